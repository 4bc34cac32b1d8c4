import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { subevents } from "../store/subevents.ts";

/** Keeps our copy of the dates of event series. */
export const subeventChanged = keepCopy(topics.subeventChanged, subevents, (fact) => fact);
