/** The generator takes bytes for media types that it is told to, and of several types of bytes for one body only one works. */
export const pythonSettings = `content_type_overrides:
  application/x-ndjson: application/octet-stream
  application/pdf: application/octet-stream
  application/zip: application/octet-stream
`;

/** Uses the client of openapi-python-client, as its documentation shows it. */
export const pythonProgram = `import json
import os
from io import BytesIO

from tessera_client import AuthenticatedClient
from tessera_client.api.checkinlists import list_listed_positions, redeem_listed_position
from tessera_client.api.deployment import upload_file
from tessera_client.api.records import import_records
from tessera_client.models import RedeemBody, RefusedReason
from tessera_client.types import File

given = os.environ


def with_key(key):
    return AuthenticatedClient(base_url=given["BASE_URL"], token=key, prefix="Token")


operator = with_key(given["OPERATOR_KEY"])
shop = with_key(given["API_KEY"])
place = (given["ORGANIZER"], given["EVENT"], 1)

imported = import_records.sync(client=operator, body=File(payload=BytesIO(given["RECORDS"].encode())))
uploaded = upload_file.sync(
    client=shop,
    body=File(payload=BytesIO(given["PDF"].encode())),
    content_disposition='attachment; filename="terms.pdf"',
)
scanned = redeem_listed_position.sync(*place, given["SECRET"], client=shop, body=RedeemBody())
again = redeem_listed_position.sync(*place, given["SECRET"], client=shop, body=RedeemBody())
page = list_listed_positions.sync(*place, client=shop, page_size=1)

print(
    json.dumps(
        {
            "accepted": imported.accepted,
            "upload": uploaded.id,
            "scan": scanned.status,
            "refused": again.reason == RefusedReason.ALREADY_REDEEMED,
            "tickets": page.count,
            "shown": len(page.results),
        }
    )
)
`;
