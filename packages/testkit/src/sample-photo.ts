import { createCanvas } from "@napi-rs/canvas";

/** A picture that is unlike any other seed's: a sky, hills and a sun, as large as asked. */
export function aPhoto({
  width = 400,
  height = 300,
  seed = 1,
  type = "image/jpeg",
}: {
  readonly width?: number;
  readonly height?: number;
  readonly seed?: number;
  readonly type?: "image/jpeg" | "image/png";
} = {}): Buffer {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext("2d");
  const sky = context.createLinearGradient(0, 0, 0, height);
  sky.addColorStop(0, `hsl(${(seed * 47) % 360} 70% 60%)`);
  sky.addColorStop(1, "#fff3e0");
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
  context.fillStyle = "#ffd54f";
  context.beginPath();
  context.arc(width * (0.2 + (seed % 7) * 0.1), height * 0.3, height * 0.12, 0, 7);
  context.fill();
  for (let hill = 0; hill < 4; hill += 1) {
    context.fillStyle = `hsl(${100 + hill * 15 + seed} 40% ${55 - hill * 10}%)`;
    context.beginPath();
    context.moveTo(0, height);
    for (let x = 0; x <= width; x += 4)
      context.lineTo(x, height * (0.5 + hill * 0.12 + 0.06 * Math.sin((x / width) * 6 + hill * seed)));
    context.lineTo(width, height);
    context.fill();
  }
  return type === "image/png" ? canvas.toBuffer("image/png") : canvas.toBuffer("image/jpeg", 85);
}
