import { expect, it } from "vitest";
import { limitMemory } from "./limit-memory.ts";

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Node's types lack WebAssembly. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object) => { readonly exports: { readonly m: Memory } };
  };
};

const pageBytes = 65_536;

/** A module with a type section, and with these bytes as its memory section. */
const moduleOf = (...memories: number[]) =>
  Buffer.from([
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    4,
    1,
    0x60,
    0,
    0,
    5,
    memories.length,
    ...memories,
    7,
    5,
    1,
    1,
    109,
    2,
    0,
  ]);

it("[L46.4] a memory grows up to its new maximum, and not beyond", () => {
  for (const pages of [2, 200, 4096]) {
    const limited = limitMemory(moduleOf(1, 1, 2, 0x80, 0x80, 2), { maxBytes: pages * pageBytes });
    const { m: memory } = new WebAssembly.Instance(new WebAssembly.Module(limited)).exports;
    memory.grow(pages - 2);
    expect(memory.buffer.byteLength).toBe(pages * pageBytes);
    expect(() => memory.grow(1)).toThrow(RangeError);
  }
});

it.each([
  ["without a memory", Buffer.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0])],
  ["whose memory has no maximum", moduleOf(1, 0, 2)],
  ["that needs more", moduleOf(1, 1, 100, 0x80, 0x80, 2)],
  ["with a lower maximum", moduleOf(1, 1, 2, 3)],
])("[L46.4] a module %s is told, not used without a limit", (_name, module) => {
  expect(() => limitMemory(module, { maxBytes: 50 * pageBytes })).toThrow("WebAssembly module");
});
