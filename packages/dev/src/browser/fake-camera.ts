import type { Page } from "puppeteer-core";
import { toDataURL } from "qrcode";

/** Runs in the page before its own scripts: a camera that sees what is held before it, as pixels that the page decodes itself. */
const program = (framesPerSecond: number) => `
const canvas = document.createElement("canvas");
canvas.width = 1280;
canvas.height = 720;
const context = canvas.getContext("2d");
let held;
setInterval(() => {
  context.fillStyle = "#6a6f78";
  context.fillRect(0, 0, 1280, 720);
  if (held !== undefined) context.drawImage(held, 440, 160, 400, 400);
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

/** Gives a page a camera. Each frame costs the processor more than what is tested. */
export async function installCamera(page: Page, { framesPerSecond = 8 } = {}): Promise<void> {
  await page.evaluateOnNewDocument(program(framesPerSecond));
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
