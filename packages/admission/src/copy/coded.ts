/** Entities by their ids, found by the hash of their code too. */
export class Coded<T extends { readonly code: string }> {
  readonly #byId = new Map<number, T>();
  readonly #ids = new Map<string, Set<number>>();

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  get(id: number): T | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<T> {
    return this.#byId.values();
  }

  withCode(code: string): T[] {
    return Array.from(this.#ids.get(code) ?? [], (id) => this.#byId.get(id)).filter((entity) => entity !== undefined);
  }

  set(id: number, entity: T): void {
    this.delete(id);
    this.#byId.set(id, entity);
    const ids = this.#ids.get(entity.code);
    if (ids === undefined) this.#ids.set(entity.code, new Set([id]));
    else ids.add(id);
  }

  delete(id: number): void {
    const { code } = this.#byId.get(id) ?? {};
    if (code === undefined) return;
    this.#byId.delete(id);
    const ids = this.#ids.get(code);
    ids?.delete(id);
    if (ids?.size === 0) this.#ids.delete(code);
  }
}
