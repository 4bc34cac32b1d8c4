import { toDataURL } from "qrcode";
import type { Page } from "./page-browser.ts";

interface Camera {
  readonly framesPerSecond: number;
  /** Of a frame, in pixels; its height is nine sixteenths. */
  readonly width: number;
}

const fewFrames: Camera = { framesPerSecond: 8, width: 640 };

/** Runs in the page before its own scripts: a camera that sees what is held before it, as pixels that the page decodes itself. */
const program = ({ framesPerSecond, width }: Camera) => `
const [width, height] = [${width}, ${(width * 9) / 16}];
const canvas = document.createElement("canvas");
canvas.width = width;
canvas.height = height;
const context = canvas.getContext("2d");
let held;
setInterval(() => {
  context.fillStyle = "#6a6f78";
  context.fillRect(0, 0, width, height);
  const side = height / 1.8;
  if (held !== undefined) context.drawImage(held, (width - side) / 2, (height - side) / 2, side, side);
}, ${1000 / framesPerSecond});
let stream;
window.fakeCamera = {
  error: undefined,
  async hold(address) {
    held = undefined;
    if (address === "") return;
    const image = new Image();
    image.src = address;
    await image.decode();
    held = image;
  },
  takeAway() {
    for (const track of stream.getTracks()) track.dispatchEvent(new Event("ended"));
  },
};
navigator.mediaDevices.getUserMedia = async () => {
  const name = window.fakeCamera.error;
  if (name !== undefined) throw new DOMException("the test says so", name);
  stream = canvas.captureStream(${framesPerSecond});
  return stream;
};
`;

/** Gives a page a camera. Frames cost the processor more than what is tested: where no time is measured, they are few and small. */
export async function installCamera(page: Page, { framesPerSecond, width }: Camera = fewFrames): Promise<void> {
  await page.evaluateOnNewDocument(program({ framesPerSecond, width }));
}

/** Holds the QR code of a text before the camera; an empty text takes it away. */
export async function holdCode(page: Page, text: string): Promise<void> {
  const address = text === "" ? "" : await toDataURL(text, { width: 400, margin: 4 });
  await page.evaluate(`fakeCamera.hold(${JSON.stringify(address)})`);
}

/** Takes the camera away, as another program would. */
export async function takeCameraAway(page: Page): Promise<void> {
  await page.evaluate("fakeCamera.takeAway()");
}

/** Lets the next starts of the camera fail with an error of this name. */
export async function breakCamera(page: Page, name: string | undefined): Promise<void> {
  await page.evaluate(`fakeCamera.error = ${JSON.stringify(name)}`);
}
