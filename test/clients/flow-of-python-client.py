# With the client of openapi-python-client.
import json
import os
import time
from io import BytesIO
from uuid import UUID

from tessera import AuthenticatedClient
from tessera.api.checkinlists import redeem_listed_position
from tessera.api.deployment import upload_file
from tessera.api.offlinesalesbatches import (
    check_offline_sales_batch,
    create_offline_sales_batch,
    download_offline_sales_batch,
    render_offline_sales_batch,
)
from tessera.api.records import import_records
from tessera.api.shredders import (
    download_personal_data,
    export_personal_data,
    get_shred_status,
    shred_personal_data,
)
from tessera.api.ticketlayouts import create_ticket_layout
from tessera.api.vouchers import create_voucher, list_vouchers
from tessera.models import (
    Incomplete,
    LayoutElement,
    LayoutElementType,
    OfflineSalesBatchBody,
    RedeemBody,
    RedeemBodyAnswersType0,
    ShredderExport,
    ShredderExportShreddersItem,
    TicketLayoutBody,
    VoucherBody,
    VoucherBodyPriceMode,
)
from tessera.types import File


def with_key(key):
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=key, prefix="Token")


def parts_of(address):
    return [UUID(part) for part in address.split("/") if len(part) == 36]


def until_ended(ask):
    while (answer := ask()).status_code == 409:
        time.sleep(float(answer.headers["Retry-After"]))
    return answer.parsed


operator = with_key(os.environ["OPERATOR_KEY"])
with open("shop.ndjson", "rb") as records:
    imported = import_records.sync(client=operator, body=File(payload=records))

client = with_key(os.environ["API_KEY"])
organizer, event, secret = (os.environ[name] for name in ("ORGANIZER", "EVENT", "SECRET"))
place = (organizer, event)
discount = VoucherBody(code="PYTHON25", price_mode=VoucherBodyPriceMode.PERCENT, value="25.00", item=1)
voucher = create_voucher.sync(*place, client=client, body=discount)
found = list_vouchers.sync(*place, client=client, code="PYTHON25").results[0]

asked = scanned = redeem_listed_position.sync(
    organizer, event, 1, secret, client=client, body=RedeemBody(nonce="scan-1")
)
if isinstance(asked, Incomplete):
    answers = RedeemBodyAnswersType0()
    answers.additional_properties = {str(question.id): "none" for question in asked.questions}
    body = RedeemBody(nonce="scan-1", answers=answers)
    scanned = redeem_listed_position.sync(organizer, event, 1, secret, client=client, body=body)
again = redeem_listed_position.sync(organizer, event, 1, secret, client=client, body=RedeemBody(nonce="scan-2"))

with open("background.pdf", "rb") as background:
    name = 'attachment; filename="background.pdf"'
    upload = upload_file.sync(client=client, body=File(payload=background), content_disposition=name)
kind = LayoutElementType.BARCODEAREA
code = LayoutElement(type_=kind, left="20.00", bottom="150.00", size="60.00", content="secret")
sent = TicketLayoutBody(name="Python", layout=[code], background=upload.id)
layout = create_ticket_layout.sync(*place, client=client, body=sent)

wanted = OfflineSalesBatchBody(item=1, layout=layout.id, sales_channel="web", amount=3)
[job] = parts_of(create_offline_sales_batch.sync(*place, client=client, body=wanted).check)
batch = until_ended(lambda: check_offline_sales_batch.sync_detailed(*place, job, client=client))
printing = parts_of(render_offline_sales_batch.sync(*place, batch.id, client=client).download)
tickets = until_ended(lambda: download_offline_sales_batch.sync_detailed(*place, batch.id, *printing, client=client))

kinds = [ShredderExportShreddersItem.ORDER_EMAILS, ShredderExportShreddersItem.QUESTION_ANSWERS]
export = parts_of(export_personal_data.sync(*place, client=client, body=ShredderExport(shredders=kinds)).download)
data = until_ended(lambda: download_personal_data.sync_detailed(*place, *export, client=client))
case = parts_of(shred_personal_data.sync(*place, *export, client=client).status)
erased = until_ended(lambda: get_shred_status.sync_detailed(*place, *case, client=client))

print(
    json.dumps(
        {
            "accepted": imported.accepted,
            "voucher": [voucher.code, found.value],
            "asked": asked.status,
            "scanned": scanned.status,
            "again": again.reason,
            "background": layout.background is not None,
            "sold": len(batch.orders),
            "tickets": tickets.payload.read(5).decode(),
            "export": data.payload.read(2).decode(),
            "erased": erased.status,
        }
    )
)
