import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import decoderUrl from "zxing-wasm/reader/zxing_reader.wasm?url";

/** A part of a frame, to be decoded. */
export interface Frame {
  readonly pixels: ImageData;
  /** Looks longer: for codes that are turned, faint or far away. */
  readonly tryHarder: boolean;
}

/** What was found in a frame; `code` is undefined if there is no code, `failed` says that none can be read here. */
export interface Decoded {
  readonly code: string | undefined;
  readonly failed?: true;
}

// The library would load it from another host.
const prepared = prepareZXingModule({
  overrides: { locateFile: () => new URL(decoderUrl, import.meta.url).href },
  fireImmediately: true,
});

addEventListener("message", ({ data }: MessageEvent<Frame>) => {
  void decode(data).then((decoded) => postMessage(decoded));
});

async function decode({ pixels, tryHarder }: Frame): Promise<Decoded> {
  try {
    await prepared;
    const [found] = await readBarcodes(pixels, {
      formats: ["QRCode", "DataMatrix", "Aztec", "PDF417", "Code128"],
      maxNumberOfSymbols: 1,
      textMode: "Plain",
      tryHarder,
      tryRotate: tryHarder,
      tryInvert: tryHarder,
      tryDownscale: tryHarder,
    });
    return { code: found?.isValid === true ? found.text : undefined };
  } catch {
    return { code: undefined, failed: true };
  }
}
