import type { Client } from "@tessera/kit/rpc";
import type { PersonalData } from "@tessera/protos/services";

/** A service that holds personal data of events. */
export interface Holder {
  readonly service: string;
  readonly client: Client<PersonalData>;
}

/** The clients of the services that hold personal data. */
export interface HolderClients {
  readonly boxofficeData: Client<PersonalData>;
  readonly checkinData: Client<PersonalData>;
  readonly voucherData: Client<PersonalData>;
  readonly layoutData: Client<PersonalData>;
  readonly gatewayData: Client<PersonalData>;
}

/** All services that hold personal data of events. */
export function holdersOf(clients: HolderClients): readonly Holder[] {
  const { boxofficeData, checkinData, voucherData, layoutData, gatewayData } = clients;
  return [
    { service: "boxoffice", client: boxofficeData },
    { service: "checkin", client: checkinData },
    { service: "voucher", client: voucherData },
    { service: "layout-and-render", client: layoutData },
    { service: "gateway", client: gatewayData },
  ];
}
