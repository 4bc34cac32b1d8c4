import type { Log } from "../log.ts";

/** Who listens for hints in this process. */
export interface Listeners {
  /** Adds a listener; the function returned removes it. */
  add(channel: string, act: (text: string) => void): () => void;
  /** Tells everybody who listens, soon. */
  tell(channel: string, text: string): void;
  /** Ends all listening. */
  clear(): void;
}

/** Keeps the listeners of a process. What one of them throws hinders neither the others nor whoever tells. */
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
    tell(channel, text) {
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
