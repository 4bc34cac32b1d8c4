// Functions that run inside a page, without access to this module's scope. Pages run no scripts of their own; these are
// injected over the DevTools protocol.

interface PageElement {
  innerHTML: string;
  textContent: string;
  readonly children: ArrayLike<PageElement>;
  readonly style: { fontSize: string };
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly offsetHeight: number;
  readonly offsetWidth: number;
  readonly scrollWidth: number;
}

interface Picture {
  src: string;
  readonly naturalWidth: number;
  readonly naturalHeight: number;
  decode(): Promise<void>;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: "2d"): {
    imageSmoothingQuality: string;
    drawImage(image: Picture, x: number, y: number, width: number, height: number): void;
  };
  toDataURL(type: string, quality?: number): string;
}

declare const document: {
  readonly body: PageElement & { append(element: PageElement): void };
  readonly fonts: { add(face: unknown): void };
  createElement(name: "canvas"): Canvas;
  createElement(name: "style"): PageElement;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare const getComputedStyle: (element: PageElement) => { readonly fontSize: string };
declare const Image: new () => Picture;
declare const FontFace: new (
  family: string,
  source: Uint8Array,
  descriptors: { weight: string; style: string; unicodeRange: string },
) => { load(): Promise<unknown> };

export interface LoadedFont {
  readonly family: string;
  readonly weight: string;
  readonly style: string;
  readonly unicodeRange: string;
  readonly content: string;
}

export interface LoadedImage {
  readonly type: string;
  /** Base64. */
  readonly content: string;
  readonly pixels: number;
  readonly mostWidth: number;
  readonly mostHeight: number;
}

/** Adds fonts, which stay for later pages. */
export async function loadFonts(fonts: readonly LoadedFont[]): Promise<void> {
  await Promise.all(
    fonts.map(async ({ family, weight, style, unicodeRange, content }) => {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      const face = new FontFace(family, bytes, { weight, style, unicodeRange });
      await face.load();
      document.fonts.add(face);
    }),
  );
}

/** Replaces the pages, and shrinks texts that have to fit their box. */
export async function layOut(
  html: string,
  images: readonly LoadedImage[],
): Promise<{ readonly misfits: string[]; readonly brokenImages: number[] }> {
  document.body.innerHTML = html;
  const brokenImages: number[] = [];
  const styles: string[] = [];
  const show = async (number: number) => {
    const { type, content, mostWidth, mostHeight } = images[number] ?? {
      type: "",
      content: "",
      mostWidth: 1,
      mostHeight: 1,
    };
    let source = `data:${type};base64,${content}`;
    try {
      const picture = new Image();
      picture.src = source;
      await picture.decode();
      const shrunk = Math.min(mostWidth / picture.naturalWidth, mostHeight / picture.naturalHeight);
      // Slightly too many pixels are not worth another compression.
      if (shrunk < 0.8 || type === "image/gif") {
        const canvas = document.createElement("canvas");
        canvas.width = Math.max(1, Math.round(picture.naturalWidth * Math.min(shrunk, 1)));
        canvas.height = Math.max(1, Math.round(picture.naturalHeight * Math.min(shrunk, 1)));
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(picture, 0, 0, canvas.width, canvas.height);
        source = canvas.toDataURL(type === "image/jpeg" ? type : "image/png", 0.9);
        picture.src = source;
        await picture.decode();
      }
      styles.push(`[data-image="${number}"]{background-image:url(${source})}`);
    } catch {
      brokenImages.push(number);
      styles.push(`[data-image="${number}"]{background-color:#ccc}`);
    }
  };
  // A large picture takes hundreds of megabytes while decoding, so large ones are decoded in turn, small ones together.
  let together: Promise<void>[] = [];
  for (let number = 0; number < images.length; number += 1) {
    const shown = show(number);
    const { content = "", pixels = 0 } = images[number] ?? {};
    if (content.length > 300_000 || pixels > 2_000_000) await shown;
    else together.push(shown);
    if (together.length < 8) continue;
    await Promise.all(together);
    together = [];
  }
  await Promise.all(together);
  if (styles.length > 0) {
    const sheet = document.createElement("style");
    sheet.textContent = styles.join("");
    document.body.append(sheet);
  }
  const points = 40 / 3;
  // Sizes are read only if a box does not fit.
  let open = [...document.querySelectorAll("[data-fit]")].flatMap((box) => {
    const text = box.children[0];
    return text === undefined ? [] : [{ box, text, size: 0, steps: 0 }];
  });
  const misfits: string[] = [];
  // All boxes are measured before any changes: one layout of the page per round, no layout thrashing.
  while (open.length > 0) {
    const next: typeof open = [];
    const sizes: number[] = [];
    for (const fit of open) {
      const { box, text, steps } = fit;
      const isTooHigh = text.offsetHeight > box.offsetHeight + 1;
      // `scrollWidth` of the text does not count overflow to the left, as of right-to-left lines.
      const isTooWide = Array.from(text.children).some((line) => line.scrollWidth > box.offsetWidth + 1);
      if (!isTooHigh && !isTooWide) continue;
      const size = fit.size || Number.parseFloat(getComputedStyle(text).fontSize) / points;
      if (size <= 1 || steps >= 25 || box.dataset["fixed"] !== undefined) {
        misfits.push(box.dataset["fit"] ?? "");
        continue;
      }
      sizes.push(size - (isTooHigh ? Math.max(1, size * 0.1) : Math.max(0.25, size * 0.025)));
      next.push(fit);
    }
    next.forEach((fit, index) => {
      fit.size = sizes[index] ?? fit.size;
      fit.steps += 1;
      fit.text.style.fontSize = `${fit.size * points}px`;
    });
    open = next;
  }
  return { misfits, brokenImages };
}

export function clear(): void {
  document.body.innerHTML = "";
}
