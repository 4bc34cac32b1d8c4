// With the client of openapi-generator.
import java.io.File
import java.util.UUID
import tessera.apis.*
import tessera.infrastructure.*
import tessera.models.*

fun partsOf(address: String) = address.split("/").filter { it.length == 36 }.map(UUID::fromString)

fun <T> untilEnded(ask: () -> T): T {
    while (true) {
        try {
            return ask()
        } catch (pending: ClientException) {
            if (pending.statusCode != 409) throw pending
            Thread.sleep(1000)
        }
    }
}

fun main() {
    val given = System.getenv()
    val (organizer, event, secret) = listOf("ORGANIZER", "EVENT", "SECRET").map(given::getValue)

    ApiClient.apiKeyPrefix["Authorization"] = "Token"
    ApiClient.apiKey["Authorization"] = given.getValue("OPERATOR_KEY")
    val imported = RecordsApi().importRecords(File("shop.ndjson"))

    ApiClient.apiKey["Authorization"] = given.getValue("API_KEY")
    val body = VoucherBody(code = "KOTLIN25", priceMode = VoucherBody.PriceMode.percent, value = "25.00", item = 1)
    val voucher = VouchersApi().createVoucher(organizer, event, voucherBody = body)
    val found = VouchersApi().listVouchers(organizer, event, code = "KOTLIN25").results.first()

    val gate = CheckinlistsApi()
    var asked: Incomplete? = null
    val scanned = try {
        gate.redeemListedPosition(organizer, event, 1, secret, redeemBody = RedeemBody(nonce = "scan-1"))
    } catch (refused: ClientException) {
        // The answer is of one of several kinds, which its status names.
        val text = (refused.response as ClientError<*>).body as String
        asked = Serializer.moshi.adapter(Incomplete::class.java).fromJson(text)!!
        val answers = asked.questions.associate { it.id.toString() to "none" }
        gate.redeemListedPosition(organizer, event, 1, secret, redeemBody = RedeemBody(nonce = "scan-1", answers = answers))
    }
    val again = gate.redeemListedPosition(organizer, event, 1, secret, redeemBody = RedeemBody(nonce = "scan-2"))

    // Of several media types for a body the client sends none.
    val pdfs = ApiClient.defaultClient.newBuilder().addNetworkInterceptor {
        it.proceed(it.request().newBuilder().header("Content-Type", "application/pdf").build())
    }
    val upload = DeploymentApi(client = pdfs.build()).uploadFile("attachment; filename=\"background.pdf\"", File("background.pdf"))
    val code = LayoutElement(LayoutElement.Type.barcodearea, left = "20.00", bottom = "150.00", propertySize = "60.00", content = "secret")
    val sent = TicketLayoutBody(name = "Kotlin", layout = listOf(code), background = upload.id)
    val layout = TicketlayoutsApi().createTicketLayout(organizer, event, sent)

    val batches = OfflinesalesbatchesApi()
    val wanted = OfflineSalesBatchBody(item = 1, layout = layout.id, salesChannel = "web", amount = 3)
    val (job) = partsOf(batches.createOfflineSalesBatch(organizer, event, wanted).check)
    val batch = untilEnded { batches.checkOfflineSalesBatch(organizer, event, job) }
    val (print, printed) = partsOf(batches.renderOfflineSalesBatch(organizer, event, batch.id).download)
    val tickets = untilEnded { batches.downloadOfflineSalesBatch(organizer, event, batch.id, print, printed) }

    val shredders = ShreddersApi()
    val kinds = ShredderExport(listOf(ShredderExport.Shredders.order_emails, ShredderExport.Shredders.question_answers))
    val (export, file) = partsOf(shredders.exportPersonalData(organizer, event, kinds).download)
    val data = untilEnded { shredders.downloadPersonalData(organizer, event, export, file) }
    val (case, status) = partsOf(shredders.shredPersonalData(organizer, event, export, file).status)
    val erased = untilEnded { shredders.getShredStatus(organizer, event, case, status) }

    val told = mapOf(
        "accepted" to imported.accepted,
        "voucher" to listOf(voucher.code, found.value),
        "asked" to asked?.status,
        "scanned" to scanned.status.value,
        "again" to again.reason?.value,
        "background" to (layout.background != null),
        "sold" to batch.orders.size,
        "tickets" to tickets.readText().take(5),
        "export" to data.readText().take(2),
        "erased" to erased.status.value,
    )
    println(Serializer.moshi.adapter(Any::class.java).toJson(told))
    // Connections that are kept for later would keep this process.
    kotlin.system.exitProcess(0)
}
