import { any, arrayOf, choice, mapOf, object, text } from "@tessera/schema/build";
import { shredders } from "@tessera/values";
import { fieldErrors, record } from "../../http/answers.ts";
import { type Answer, bodyOf } from "../../http/route.ts";

const identifiers = Object.keys(shredders);

const most = 1000;

export const exportBody = bodyOf({
  title: "ShredderExport",
  ...object(
    {
      shredders: arrayOf(choice(identifiers), {
        maxItems: most,
        description: "Identifiers of shredders; none is allowed.",
      }),
    },
    { required: ["shredders"] },
  ),
});

export const shredderShown = record("Shredder", {
  identifier: choice(identifiers),
  verbose_name: text({ description: "Its English name." }),
});

export const exportStarted = record("ShredderExportStarted", {
  download: text({ description: "Answers the export once it is made." }),
  shred: text({ description: "Erases what was exported." }),
});

export const shredStarted = record("ShredStarted", { status: text({ description: "Says how the erasure ended." }) });

export const shredEnded = record("ShredEnded", { status: choice(["ok"]), message: text() });

const failed = record("ShredFailed", {
  status: choice(["failed"]),
  message: text({ description: "Why, for people." }),
});

const gone = record("ShredGone", { status: choice(["gone"]), message: text() });

export const certificateShown = record("ErasureCertificate", {
  statement: mapOf(any(), { description: "What was erased, when and where." }),
  signed: text({ trim: false, description: "The same as the text that is signed." }),
  signature: text({ description: "Ed25519, in base64." }),
  public_key: text({ trim: false, description: "As PEM." }),
});

export const certificateKeyShown = record("ErasureCertificateKey", {
  public_key: text({ trim: false, description: "Ed25519, as PEM." }),
});

/** A list of one message about the event. */
export const notReady: Answer = {
  description: "The request is not valid, or the event is not ready: then a list of one sentence.",
  schema: { anyOf: [fieldErrors, { type: "array", items: { type: "string" } }] },
};

export const shredFailed: Answer = { description: "Nothing more is erased; the message says why.", schema: failed };

export const shredGone: Answer = { description: "It ended more than an hour ago.", schema: gone };
