// With the client of openapi-generator.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"shop/tessera"
)

func withKey(key string) context.Context {
	sent := tessera.APIKey{Key: key, Prefix: "Token"}
	return context.WithValue(context.Background(), tessera.ContextAPIKeys, map[string]tessera.APIKey{"key": sent, "operator": sent})
}

func must[T any](value T, response *http.Response, err error) T {
	if err != nil {
		panic(fmt.Sprint(err, response))
	}
	return value
}

func partsOf(address string) []string {
	parts := []string{}
	for _, part := range strings.Split(address, "/") {
		if len(part) == 36 {
			parts = append(parts, part)
		}
	}
	return parts
}

func untilEnded[T any](ask func() (T, *http.Response, error)) T {
	for {
		value, response, err := ask()
		if response == nil || response.StatusCode != http.StatusConflict {
			return must(value, response, err)
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func beginning(file *os.File, count int) string {
	text := make([]byte, count)
	if _, err := io.ReadFull(file, text); err != nil {
		panic(err)
	}
	return string(text)
}

func open(name string) *os.File {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	organizer, event, secret := os.Getenv("ORGANIZER"), os.Getenv("EVENT"), os.Getenv("SECRET")
	operator, key := withKey(os.Getenv("OPERATOR_KEY")), withKey(os.Getenv("API_KEY"))

	client := tessera.NewAPIClient(tessera.NewConfiguration())
	imported := must(client.RecordsAPI.ImportRecords(operator).Body(open("shop.ndjson")).Execute())

	wanted := tessera.NewVoucherBody()
	wanted.SetCode("GOPHER25")
	wanted.SetPriceMode("percent")
	wanted.SetValue("25.00")
	wanted.SetItem(1)
	voucher := must(client.VouchersAPI.CreateVoucher(key, organizer, event).VoucherBody(*wanted).Execute())
	found := must(client.VouchersAPI.ListVouchers(key, organizer, event).Code("GOPHER25").Execute()).Results[0]

	scan := tessera.NewRedeemBody()
	scan.SetNonce("scan-1")
	scanned, response, err := client.CheckinlistsAPI.RedeemListedPosition(key, organizer, event, 1, secret).RedeemBody(*scan).Execute()
	asked := tessera.Incomplete{}
	if response.StatusCode == http.StatusBadRequest {
		// The answer is of one of several kinds, which its status names.
		if wrong := json.Unmarshal(err.(*tessera.GenericOpenAPIError).Body(), &asked); wrong != nil {
			panic(wrong)
		}
		answers := map[string]interface{}{}
		for _, question := range asked.Questions {
			answers[fmt.Sprint(question.Id)] = "none"
		}
		scan.SetAnswers(answers)
		scanned, response, err = client.CheckinlistsAPI.RedeemListedPosition(key, organizer, event, 1, secret).RedeemBody(*scan).Execute()
	}
	must(scanned, response, err)
	other := tessera.NewRedeemBody()
	other.SetNonce("scan-2")
	again := must(client.CheckinlistsAPI.RedeemListedPosition(key, organizer, event, 1, secret).RedeemBody(*other).Execute())

	upload := must(client.DeploymentAPI.UploadFile(key).ContentDisposition(`attachment; filename="background.pdf"`).Body(open("background.pdf")).Execute())
	code := tessera.NewLayoutElement("barcodearea", "20.00", "150.00")
	code.SetSize("60.00")
	code.SetContent("secret")
	sent := tessera.NewTicketLayoutBody("Go", []tessera.LayoutElement{*code})
	sent.SetBackground(upload.Id)
	layout := must(client.TicketlayoutsAPI.CreateTicketLayout(key, organizer, event).TicketLayoutBody(*sent).Execute())

	batches := client.OfflinesalesbatchesAPI
	order := tessera.NewOfflineSalesBatchBody("web", layout.Id, 1, 3)
	job := partsOf(must(batches.CreateOfflineSalesBatch(key, organizer, event).OfflineSalesBatchBody(*order).Execute()).Check)
	batch := untilEnded(batches.CheckOfflineSalesBatch(key, organizer, event, job[0]).Execute)
	printing := partsOf(must(batches.RenderOfflineSalesBatch(key, organizer, event, batch.Id).Execute()).Download)
	tickets := untilEnded(batches.DownloadOfflineSalesBatch(key, organizer, event, batch.Id, printing[0], printing[1]).Execute)

	shredders := client.ShreddersAPI
	kinds := tessera.NewShredderExport([]string{"order_emails", "question_answers"})
	export := partsOf(must(shredders.ExportPersonalData(key, organizer, event).ShredderExport(*kinds).Execute()).Download)
	data := untilEnded(shredders.DownloadPersonalData(key, organizer, event, export[0], export[1]).Execute)
	erasure := partsOf(must(shredders.ShredPersonalData(key, organizer, event, export[0], export[1]).Execute()).Status)
	erased := untilEnded(shredders.GetShredStatus(key, organizer, event, erasure[0], erasure[1]).Execute)

	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"accepted":   imported.Accepted,
		"voucher":    []interface{}{voucher.Code, found.Value.Get()},
		"asked":      asked.Status,
		"scanned":    scanned.Status,
		"again":      again.Reason,
		"background": layout.Background.IsSet() && layout.Background.Get() != nil,
		"sold":       len(batch.Orders),
		"tickets":    beginning(tickets, 5),
		"export":     beginning(data, 2),
		"erased":     erased.Status,
	})
}
