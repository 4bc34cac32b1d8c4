import { Fault } from "@tessera/kit/fault";

/** Returns the error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<Error> {
  const error = await call.then(
    (response) => new TypeError(`expected the call to fail, but it answered ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new TypeError(`expected an error, not ${String(error)}`);
}

/** Returns the fault of a call that must fail with one. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const error = await errorOf(call);
  if (error instanceof Fault) return error;
  throw new TypeError("expected a fault", { cause: error });
}
