import type { ComponentChildren } from "preact";

export interface ButtonOptions {
  readonly children: ComponentChildren;
  readonly onPress?: () => void;
  readonly isStrong?: boolean;
  /** Of a switch: whether it is on. */
  readonly isOn?: boolean;
  readonly isOff?: boolean;
  readonly submits?: boolean;
  /** It has the focus when it appears. */
  readonly isFirst?: boolean;
  readonly more?: string;
  /** What a screen reader says instead, where several buttons look the same. */
  readonly label?: string;
}

export function Button({ children, onPress, isStrong, isOn, isOff, submits, isFirst, more, label }: ButtonOptions) {
  return (
    <button
      type={submits === true ? "submit" : "button"}
      class={`button${isStrong === true ? " strong" : ""}${more === undefined ? "" : ` ${more}`}`}
      aria-pressed={isOn}
      aria-label={label}
      disabled={isOff}
      autofocus={isFirst}
      onClick={onPress}
    >
      {children}
    </button>
  );
}
