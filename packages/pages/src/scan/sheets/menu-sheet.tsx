import { useSignal } from "@preact/signals";
import { Button } from "../../ui/button.tsx";
import { LanguageChoice } from "../../ui/language-choice.tsx";
import { waitingScans } from "../offline/kept-scans.ts";
import { changeList, isLoud, leave, switchSounds } from "../scan-session.ts";
import { say, speech } from "../scan-speech.ts";
import { askServer } from "../server/ask-server.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { ScanSheet } from "./scan-sheet.tsx";

interface MenuOptions {
  readonly device: KeptDevice;
  readonly onClose: () => void;
}

/** What a crew changes now and then. */
export function MenuSheet({ device, onClose }: MenuOptions) {
  const isSure = useSignal(false);
  async function forget() {
    // Without a network the access ends when the organizer revokes it.
    await askServer("device/revoke", { method: "POST", body: {}, token: device.token, timeoutMs: 3000 });
    await leave("unset");
  }
  const { name, organizer, profile, number, chosen } = device;
  const waiting = waitingScans().length;
  const licenses = document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href;
  return (
    <ScanSheet title={say("menu")} onClose={onClose} foot={<Button onPress={onClose}>{say("close")}</Button>}>
      <p>
        {chosen?.listName} <span class="quiet">({chosen?.eventName})</span>
      </p>
      <Button isFirst isStrong onPress={changeList}>
        {say("menu_list")}
      </Button>
      <Button isOn={isLoud.value} onPress={switchSounds}>
        {say("menu_sounds")}
      </Button>
      <LanguageChoice speech={speech} />
      <section class="stack">
        <h3>{say("menu_device")}</h3>
        <p class="quiet">
          {say("choose_of", { device: `${name} (${number})`, organizer })} · {profile}
        </p>
        {isSure.value ? (
          <>
            <p>{say("menu_forget_sure")}</p>
            {waiting === 0 ? null : <p class="attention">{say("menu_forget_waiting", { count: waiting })}</p>}
            <Button onPress={() => void forget()}>{say("menu_forget_yes")}</Button>
          </>
        ) : (
          <Button
            onPress={() => {
              isSure.value = true;
            }}
          >
            {say("menu_forget")}
          </Button>
        )}
        {licenses === undefined ? null : (
          <a class="link" href={licenses} target="_blank" rel="noopener">
            {say("menu_licenses")}
          </a>
        )}
      </section>
    </ScanSheet>
  );
}
