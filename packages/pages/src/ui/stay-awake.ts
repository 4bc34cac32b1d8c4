/** Keeps the screen on while the page is in sight; returns how to end that. */
export function stayAwake(): () => void {
  let lock: WakeLockSentinel | undefined;
  let isEnded = false;
  const take = async () => {
    if (document.visibilityState !== "visible" || isEnded) return;
    // Refused on a low battery: the crew then touches the screen.
    lock = await navigator.wakeLock?.request("screen").catch(() => undefined);
  };
  const onChange = () => void take();
  document.addEventListener("visibilitychange", onChange);
  void take();
  return () => {
    isEnded = true;
    document.removeEventListener("visibilitychange", onChange);
    void lock?.release().catch(() => {});
  };
}
