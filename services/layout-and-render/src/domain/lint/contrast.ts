import type { Color } from "../elements/element.ts";

/** The luminance of WCAG: 0 is black, 1 is white. */
export function luminanceOf(color: readonly number[] | Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of WCAG of a color on a lighter ground: 21 is black on white; less than 1: the ground is darker. */
export function contrastOn(ground: number, color: Color): number {
  return (ground + 0.05) / (luminanceOf(color) + 0.05);
}
