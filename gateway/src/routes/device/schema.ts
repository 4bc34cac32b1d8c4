import { arrayOf, id, integer, mapOf, object, orNothing, orPlain, text } from "@tessera/schema/build";
import { deviceProfiles } from "@tessera/values";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

const said = (description: string, example: string) =>
  text({ default: "", nullable: true, maxLength: 190, description, examples: [example] });

const machine = orNothing({
  hardware_brand: said("Who made the device.", "Samsung"),
  hardware_model: said("Its model.", "SM-G525F"),
  os_name: said("Its operating system.", "Android"),
  os_version: said("The version of that.", "13"),
  software_brand: said("The app.", "pretixSCAN Android"),
  software_version: said("The version of the app.", "2.3.1"),
});

export const initializeBody = bodyOf({
  title: "InitializeDeviceBody",
  ...object(
    { token: text({ blank: false, maxLength: 190, description: "The code, which works once." }), ...machine },
    { required: ["token"] },
  ),
});

export const updateBody = bodyOf({ title: "UpdateDeviceBody", ...object(machine, { required: [] }) });

/** Apps send an empty object. */
export const emptyBody = bodyOf({ title: "NothingBody", ...object({}, { required: [] }) });

const gate = orPlain(record("GateOfDevice", { id: id(), name: text() }), ["null"]);

const shown = {
  organizer: text({ description: "The slug of its organizer." }),
  device_id: id({ description: "Its number at the organizer." }),
  unique_serial: text({ description: "Its serial number here. Empty: it was never set up." }),
  name: text(),
  security_profile: text({ enum: deviceProfiles, description: "What it may do." }),
  gate,
};

export const deviceShown = record("OwnDevice", shown);

export const deviceWithToken = record("DeviceWithToken", {
  ...shown,
  api_token: text({ description: "What it authenticates with. Shown here and never again." }),
});

export const versionShown = record("Version", {
  pretix: text({ description: "The version of the interface that scanners know." }),
  pretix_numeric: integer({ description: "The same as a number." }),
});

export const selectionShown = record("EventOfDevice", {
  event: record("EventToScan", { slug: text(), name: mapOf(text(), { description: "Its name, by language." }) }),
  subevent: id({ nullable: true, description: "The date, in a series." }),
  checkinlist: id({ nullable: true, description: "The first check-in list. Null: the event has no list yet." }),
});

export const infoShown = record("DeviceInfo", {
  device: deviceShown,
  server: record("ServerOfDevice", { version: versionShown }),
  medium_key_sets: arrayOf(object({}, { required: [] }), { description: "Keys of media: none are kept here." }),
});
