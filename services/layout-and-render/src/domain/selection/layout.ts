/** The file of a background, as it is stored. */
export interface Background {
  /** Unguessable: a capability to read the file. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface Layout {
  readonly id: number;
  readonly name: string;
  readonly isDefault: boolean;
  /** The JSON as it was sent. */
  readonly elements: string;
  readonly background: Background | null;
}

/** A product and a sales channel that a layout is for. */
export interface Assignment {
  readonly id: number;
  readonly layout: number;
  readonly item: number;
  readonly salesChannel: string;
}
