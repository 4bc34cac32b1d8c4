import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** Lines in a square of 48: fonts of some phones lack such signs. */
const symbols = {
  tick: "M8 25 L20 37 L40 12",
  cross: "M11 11 L37 37 M37 11 L11 37",
  question: "M15 17 C15 5 34 5 34 17 C34 25 24 24 24 32 M24 41 L24 42",
  exclamation: "M24 6 L24 31 M24 41 L24 42",
} as const;

type SymbolName = keyof typeof symbols;

export interface SheetOptions {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  /** What stays in sight above and below, however long the rest is. */
  readonly head?: ComponentChildren;
  readonly foot?: ComponentChildren;
  /** The symbol before the title, for the eye alone. */
  readonly symbol?: SymbolName;
  readonly look?: string;
  /** It tells something that a person has to know at once. */
  readonly isAlert?: boolean;
}

/** Lies over the page, and holds the focus until it is closed. */
export function Sheet({ title, children, onClose, head, foot, symbol, look, isAlert }: SheetOptions) {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  // Before the first picture: keys that come at once are meant for it.
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    return () => {
      current?.close();
      giveFieldItsCaret();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={look}
      role={isAlert === true ? "alertdialog" : undefined}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {head}
      <div class="content">
        <div class="stack">
          <div class="title">
            {symbol === undefined ? null : (
              <svg class="symbol" viewBox="0 0 48 48" aria-hidden="true">
                <path d={symbols[symbol]} />
              </svg>
            )}
            <h2 id={name}>{title}</h2>
          </div>
          {children}
        </div>
      </div>
      {foot === undefined ? null : <div class="foot">{foot}</div>}
    </dialog>
  );
}

/**
 * A field that gets the focus back from a sheet has no caret in Chromium: keys reach it, and write nothing. On a phone it is
 * left alone, because the keyboard on the screen would cover the camera.
 */
function giveFieldItsCaret(): void {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLInputElement)) return;
  activeElement.blur();
  if (matchMedia("(pointer: fine)").matches) activeElement.focus();
}
