export { closestName } from "./closest-name.ts";
export { firstIdMadeHere, isSlug, isUuid, maxImportedId, slugPattern } from "./code.ts";
export { type Cell, writeCsvLine } from "./csv.ts";
export { placesOfCurrency } from "./currency-places.ts";
export { busyQuarters, hasScans, namedHours } from "./day-chart.ts";
export {
  type DeviceProfile,
  deviceProfileOf,
  deviceProfiles,
  type ScanProfile,
  scanProfiles,
  staffProfiles,
  standsInPublic,
} from "./device-profile.ts";
export { type Fields, filledFields, replaceFields, toFields } from "./document-fields.ts";
export { type DownloadedTicket, type DownloadSettings, findDownloads } from "./downloads.ts";
export { formatInstant, type Instant, parseInstant } from "./instant.ts";
export { isObject } from "./json.ts";
export { listedPrice } from "./listed-price.ts";
export { isVisible, type Localized, pick } from "./localized.ts";
export {
  type DecimalLimits,
  type DecimalProblem,
  findDecimalProblem,
  parseDecimal,
} from "./money.ts";
export {
  hashBytes,
  Pack,
  type PackedPresence,
  type PackedScan,
  type PackedStatus,
  type PackedTicket,
} from "./pack.ts";
export { PackWriter } from "./pack-writer.ts";
export {
  devicePermissions,
  everyPermission,
  isPermission,
  type Permission,
  permissionNames,
  permissions,
  resolvePermissions,
  usedPermissions,
} from "./permission.ts";
export { makeTexts, type TextShape } from "./random-text.ts";
export { reasonsDe, reasonsEn } from "./reason-words.ts";
export { escapeLike, foldForSearch, foldTypography, typography } from "./search-text.ts";
export { isShredder, type Shredder, shredders } from "./shredder.ts";
export { addDays, isTimeZone, zoneOffset } from "./time-zone.ts";
export { unknownId } from "./unknown-id.ts";
