import type { Tone } from "../one-scan.ts";

/** Tones in hertz, with their beginning and length in seconds. */
const melodies: Readonly<Record<Tone, readonly (readonly [hertz: number, at: number, length: number])[]>> = {
  admitted: [
    [880, 0, 0.09],
    [1319, 0.09, 0.16],
  ],
  refused: [
    [196, 0, 0.22],
    [196, 0.28, 0.34],
  ],
  question: [
    [659, 0, 0.1],
    [659, 0.16, 0.1],
    [659, 0.32, 0.1],
  ],
  undecided: [[330, 0, 0.6]],
};

const vibrations: Readonly<Record<Tone, number[]>> = {
  admitted: [70],
  refused: [220, 90, 220],
  question: [70, 60, 70, 60, 70],
  undecided: [500],
};

let audio: AudioContext | undefined;

/** Browsers allow sounds from the first touch or key on. */
export function unlockSounds(): void {
  const unlock = () => {
    audio ??= new AudioContext();
    void audio.resume();
  };
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, unlock, { capture: true, passive: true });
}

/** Lets a verdict be heard and felt. */
export function signalVerdict(tone: Tone, { isLoud }: { readonly isLoud: boolean }): void {
  navigator.vibrate?.(vibrations[tone]);
  if (!isLoud || audio === undefined || audio.state !== "running") return;
  for (const [hertz, at, length] of melodies[tone]) play(audio, hertz, audio.currentTime + at, length);
}

function play(on: AudioContext, hertz: number, at: number, length: number): void {
  const source = on.createOscillator();
  const volume = on.createGain();
  source.type = hertz < 300 ? "square" : "triangle";
  source.frequency.value = hertz;
  volume.gain.setValueAtTime(0.0001, at);
  volume.gain.exponentialRampToValueAtTime(0.3, at + 0.01);
  volume.gain.exponentialRampToValueAtTime(0.0001, at + length);
  source.connect(volume).connect(on.destination);
  source.start(at);
  source.stop(at + length + 0.02);
}
