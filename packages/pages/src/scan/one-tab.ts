const name = "tessera-scanner";

let isHeld = false;

/** Makes this the tab that scans, unless another one does; `onLost` is called when another one has taken over. */
export function becomeTheTab({
  steal,
  onLost,
}: {
  readonly steal: boolean;
  readonly onLost: () => void;
}): Promise<boolean> {
  // Without locks there is no telling: scans have nonces, so two tabs do no harm.
  if (navigator.locks === undefined || isHeld) return Promise.resolve(true);
  return new Promise((resolve) => {
    const held = navigator.locks.request(name, steal ? { steal } : { ifAvailable: true }, async (lock) => {
      isHeld = lock !== null;
      resolve(isHeld);
      // It is held until this tab closes.
      if (lock !== null) await new Promise(() => {});
    });
    held.catch(() => {
      isHeld = false;
      onLost();
    });
  });
}
