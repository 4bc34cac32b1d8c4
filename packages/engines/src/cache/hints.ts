import type { Log } from "@tessera/kit/telemetry/log";

/** The listeners for hints in this process. */
export interface Listeners {
  /** Adds a listener; the function returned removes it. */
  add(channel: string, act: (text: string) => void): () => void;
  /** Calls all listeners, soon. */
  notify(channel: string, text: string): void;
  /** Ends all listening. */
  clear(): void;
}

/** Keeps the listeners of a process. An error in one of them reaches neither the other listeners nor the caller. */
export function createListeners(log: Log): Listeners {
  const listening = new Map<string, Set<{ act(text: string): void }>>();
  return {
    add(channel, act) {
      const listeners = listening.get(channel) ?? new Set();
      listening.set(channel, listeners);
      const listener = { act };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && listening.get(channel) === listeners) listening.delete(channel);
      };
    },
    notify(channel, text) {
      setImmediate(() => {
        for (const listener of [...(listening.get(channel) ?? [])]) {
          try {
            listener.act(text);
          } catch (error) {
            log.error("a listener for hints failed", { channel, error });
          }
        }
      });
    },
    clear: () => listening.clear(),
  };
}
