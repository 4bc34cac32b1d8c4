/** One line that changes on a terminal, and a plain line now and then in a pipe. */
export interface Progress {
  update(text: string): void;
  done(): void;
}

const barWidth = 30;

/** Between two updates. A pipe keeps all lines, so it gets few, and none for quick work. */
const pauseMs = { terminal: 100, pipe: 5000 };

/** The elapsed seconds advance on a terminal, even if nothing else does. */
const tickMs = 1000;

/** Shows progress on standard error. The last text of a pause is shown at its end, so that no phase is left out. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? showOnTerminal(stream) : showInPipe(stream);
}

function showOnTerminal(stream: NodeJS.WriteStream): Progress {
  let latest = "";
  let startedAt: number | undefined;
  let shownAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const show = () => {
    shownAt = Date.now();
    const seconds = Math.floor((shownAt - (startedAt ?? shownAt)) / 1000);
    stream.write(`\r\u001b[2K${latest}${seconds === 0 ? "" : `  ${seconds} s`}`);
    showIn(tickMs);
  };
  const showIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(show, ms).unref();
  };
  return {
    update(text) {
      latest = text;
      startedAt ??= Date.now();
      const waitMs = shownAt + pauseMs.terminal - Date.now();
      if (waitMs <= 0) show();
      else showIn(waitMs);
    },
    done() {
      clearTimeout(timer);
      startedAt = undefined;
      shownAt = 0;
      stream.write("\r\u001b[2K");
    },
  };
}

function showInPipe(stream: NodeJS.WriteStream): Progress {
  let latest = "";
  let shown = "";
  let timer: NodeJS.Timeout | undefined;
  const show = () => {
    if (latest !== shown) stream.write(`progress: ${latest.replace(/[█░]+ +/u, "")}\n`);
    shown = latest;
  };
  return {
    update(text) {
      latest = text;
      timer ??= setInterval(show, pauseMs.pipe).unref();
    },
    done() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** Estimates the remaining time, once enough is known. */
export function describeLeft({ part, whole, seconds }: { part: number; whole: number; seconds: number }): string {
  if (part === 0 || part >= whole || seconds < 2) return "";
  return `, about ${Math.ceil((seconds * (whole - part)) / part)} s left`;
}

/** Draws a bar with the finished part of a whole. */
export function bar(part: number, whole: number): string {
  const filled = whole === 0 ? barWidth : Math.min(barWidth, Math.floor((part / whole) * barWidth));
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${String(Math.floor(whole === 0 ? 100 : (part / whole) * 100)).padStart(3)} %`;
}
