import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { subevents } from "../store/subevents.ts";

export const subeventChanged = keepCopy(topics.subeventChanged, subevents, (fact) => fact);
