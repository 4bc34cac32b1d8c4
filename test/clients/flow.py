# With the client of openapi-generator.
import json
import os
import time
from uuid import UUID

import tessera
from tessera.models import (
    LayoutElement,
    OfflineSalesBatchBody,
    RedeemBody,
    ShredderExport,
    TicketLayoutBody,
    VoucherBody,
)


def with_key(scheme, key):
    return tessera.ApiClient(
        tessera.Configuration(os.environ["BASE_URL"], api_key={scheme: key}, api_key_prefix={scheme: "Token"})
    )


def parts_of(address):
    return [UUID(part) for part in address.split("/") if len(part) == 36]


def until_ended(ask):
    while True:
        try:
            return ask()
        except tessera.exceptions.ConflictException as pending:
            time.sleep(float(pending.headers["Retry-After"]))


operator = with_key("operator", os.environ["OPERATOR_KEY"])
with open("shop.ndjson", "rb") as records:
    imported = tessera.RecordsApi(operator).import_records(records.read())

client = with_key("key", os.environ["API_KEY"])
organizer, event, secret = (os.environ[name] for name in ("ORGANIZER", "EVENT", "SECRET"))
place = (organizer, event)
vouchers = tessera.VouchersApi(client)
discount = VoucherBody(code="PYTHON25", price_mode="percent", value="25.00", item=1)
voucher = vouchers.create_voucher(*place, voucher_body=discount)
found = vouchers.list_vouchers(*place, code="PYTHON25").results[0]

gate = tessera.CheckinlistsApi(client)
try:
    scanned = gate.redeem_listed_position(organizer, event, 1, secret, redeem_body=RedeemBody(nonce="scan-1"))
except tessera.exceptions.BadRequestException as refused:
    # Here it has questions; it can also be a tessera.models.Invalid, for instance.
    asked = refused.data.actual_instance
    answers = {str(question.id): "none" for question in asked.questions}
    scan = RedeemBody(nonce="scan-1", answers=answers)
    scanned = gate.redeem_listed_position(organizer, event, 1, secret, redeem_body=scan)
again = gate.redeem_listed_position(organizer, event, 1, secret, redeem_body=RedeemBody(nonce="scan-2"))

with open("background.pdf", "rb") as background:
    upload = tessera.DeploymentApi(client).upload_file('attachment; filename="background.pdf"', background.read())
code = LayoutElement(type="barcodearea", left="20.00", bottom="150.00", size="60.00", content="secret")
sent = TicketLayoutBody(name="Python", layout=[code], background=upload.id)
layout = tessera.TicketlayoutsApi(client).create_ticket_layout(*place, sent)

batches = tessera.OfflinesalesbatchesApi(client)
wanted = OfflineSalesBatchBody(item=1, layout=layout.id, sales_channel="web", amount=3)
[job] = parts_of(batches.create_offline_sales_batch(*place, wanted).check)
batch = until_ended(lambda: batches.check_offline_sales_batch(*place, job))
printing = parts_of(batches.render_offline_sales_batch(*place, batch.id).download)
tickets = until_ended(lambda: batches.download_offline_sales_batch(*place, batch.id, *printing))

shredders = tessera.ShreddersApi(client)
kinds = ShredderExport(shredders=["order_emails", "question_answers"])
export = parts_of(shredders.export_personal_data(*place, kinds).download)
data = until_ended(lambda: shredders.download_personal_data(*place, *export))
case = parts_of(shredders.shred_personal_data(*place, *export).status)
erased = until_ended(lambda: shredders.get_shred_status(*place, *case))

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
            "tickets": bytes(tickets[:5]).decode(),
            "export": bytes(data[:2]).decode(),
            "erased": erased.status,
        }
    )
)
