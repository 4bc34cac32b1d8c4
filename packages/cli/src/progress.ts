/** One line that changes on a terminal, nothing in a pipe. */
export interface Progress {
  update(text: string): void;
  done(): void;
}

const barWidth = 30;

/** Shows progress on standard error, at most ten times a second. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { update: () => {}, done: () => {} };
  let last = 0;
  return {
    update(text) {
      const now = Date.now();
      if (now - last < 100) return;
      last = now;
      stream.write(`\r\u001b[2K${text}`);
    },
    done() {
      stream.write("\r\u001b[2K");
    },
  };
}

/** Draws a bar with the finished part of a whole. */
export function bar(part: number, whole: number): string {
  const filled = whole === 0 ? barWidth : Math.min(barWidth, Math.floor((part / whole) * barWidth));
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${String(Math.floor(whole === 0 ? 100 : (part / whole) * 100)).padStart(3)} %`;
}
