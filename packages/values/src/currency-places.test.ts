import { expect, it } from "vitest";
import { placesOfCurrency } from "./currency-places.ts";

/** ISO 4217, list one of 2026-01-01, without metals, bonds and units that have no places ("N.A."). */
const codes: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP
      COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR
      JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN
      NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL
      THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

it.each(Object.entries(codes))("[O3.3, V7.4, L19.3] amounts have %s places in %s", (places, text) => {
  const wrong = text.split(/\s+/).filter((code) => placesOfCurrency(code) !== Number(places));
  expect(wrong).toEqual([]);
});

it.each([
  ["a code in small letters", "jpy", 0],
  ["an unknown one", "XQX", 2],
  ["what is none", "€€€", 2],
  ["nothing", "", 2],
])("[O3.3] %s has its places", (_name, code, places) => {
  expect(placesOfCurrency(code)).toBe(places);
});
