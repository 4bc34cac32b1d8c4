import type { Definition, Handlers, Implementation } from "@tessera/kit/rpc";

/** Binds the handlers that a test needs to their definition. Calls of the other methods fail. */
export function implementSome<D extends Definition>(definition: D, handlers: Partial<Handlers<D>>): Implementation {
  const unsaid = (method: string) => Promise.reject(new Error(`no test said what ${method} answers`));
  const others = Object.fromEntries(Object.keys(definition).map((method) => [method, () => unsaid(method)] as const));
  return { definition, handlers: { ...others, ...handlers } };
}
