/** The currencies of ISO 4217 (list one) whose amounts do not have two places. */
const exceptions: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
  }).flatMap(([places, codes]) => codes.split(" ").map((code) => [code, Number(places)] as const)),
);

/**
 * Returns how many places amounts of a currency have, two if its code is unknown.
 *
 * `Intl` answers otherwise for forints, rupiahs and others of which there are no small coins any more: prices still have them.
 */
export function placesOfCurrency(code: string): number {
  return exceptions.get(code.toUpperCase()) ?? 2;
}
