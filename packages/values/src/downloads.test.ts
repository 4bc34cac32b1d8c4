import { expect, it } from "vitest";
import { findDownloads } from "./downloads.ts";

const settings = { pdfEnabled: true, addons: false, nonAdmission: true, pending: false };
const ticket = {
  orderStatus: "paid",
  validIfPending: false,
  requireApproval: false,
  blocked: false,
  addonTo: null,
} as const;
const pending = { ...ticket, orderStatus: "pending" } as const;
const item = { admission: true, generateTickets: null };

it.each([
  ["a paid ticket", settings, ticket, item, ["pdf"]],
  ["where the event offers none", { ...settings, pdfEnabled: false }, ticket, item, []],
  ["an expired order", settings, { ...ticket, orderStatus: "expired" } as const, item, []],
  ["a pending order", settings, pending, item, []],
  ["a pending order that is valid", settings, { ...pending, validIfPending: true }, item, ["pdf"]],
  ["a pending order where the event allows it", { ...settings, pending: true }, pending, item, ["pdf"]],
  ["an order without approval", { ...settings, pending: true }, { ...pending, requireApproval: true }, item, []],
  ["a blocked ticket", settings, { ...ticket, blocked: true }, item, []],
  ["an add-on", settings, { ...ticket, addonTo: 1 }, item, []],
  ["an add-on where the event allows it", { ...settings, addons: true }, { ...ticket, addonTo: 1 }, item, ["pdf"]],
  ["no admission", settings, ticket, { ...item, admission: false }, ["pdf"]],
  ["no admission, not offered", { ...settings, nonAdmission: false }, ticket, { ...item, admission: false }, []],
  [
    "an item that always has tickets",
    settings,
    { ...ticket, blocked: true, addonTo: 1 },
    { ...item, generateTickets: true },
    ["pdf"],
  ],
  ["an item that never has", settings, ticket, { ...item, generateTickets: false }, []],
])("%s", (_name, event, of, from, expected) => {
  expect(findDownloads(event, of, from)).toEqual(expected);
});
