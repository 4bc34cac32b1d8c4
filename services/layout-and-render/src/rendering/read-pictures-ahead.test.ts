import { expect, it } from "vitest";
import type { AnswerImage, ResolvedElement } from "../domain/elements/resolved-element.ts";
import { textArea } from "../testing/print-ticket.ts";
import type { ImageFile, ReadImages, Ticket } from "./printed-ticket.ts";
import { readPicturesAhead } from "./read-pictures-ahead.ts";

const picture = (position: number, question = 1): ResolvedElement => ({
  ...{ type: "imagearea", page: 1, left: 0, bottom: 0, width: 10, height: 10, content: "question_PHOTO" },
  image: { position, question },
});
const ticketOf = (...elements: ResolvedElement[]): Ticket => ({ elements, background: null });
const fileOf = ({ position, question }: AnswerImage, bytes = 2): ImageFile => ({
  type: "image/png",
  bytes: Buffer.alloc(bytes, Uint8Array.of(position, question)),
});

async function drawAll(tickets: readonly Ticket[], readImages: ReadImages): Promise<(ImageFile | undefined)[]> {
  const ahead = readPicturesAhead({ tickets, readImages });
  const drawn: (ImageFile | undefined)[] = [];
  for await (const { elements } of ahead.tickets)
    for (const element of elements)
      if (element.type === "imagearea" && element.image !== null) drawn.push(await ahead.readImage(element.image));
  return drawn;
}

it("gives each ticket its own pictures, and asks for the first ones of many tickets at once", async () => {
  const asked: number[] = [];
  const tickets = Array.from({ length: 100 }, (_, index) =>
    ticketOf(picture(index), ...(index % 20 === 0 ? [picture(index, 2)] : [])),
  );
  const drawn = await drawAll(tickets, async (images) => {
    asked.push(images.length);
    await new Promise((resolve) => setImmediate(resolve));
    // There is not always room for all.
    return images.slice(0, 30).map((image) => fileOf(image));
  });
  expect(drawn).toEqual(
    tickets.flatMap(({ elements }) =>
      elements.flatMap((element) =>
        element.type === "imagearea" && element.image !== null ? [fileOf(element.image)] : [],
      ),
    ),
  );
  expect(asked.length).toBeLessThan(30);
  expect(Math.max(...asked)).toBeGreaterThan(30);
});

it("keeps no more than some megabytes of pictures that wait", async () => {
  let [read, drawn, most] = [0, 0, 0];
  const ahead = readPicturesAhead({
    tickets: Array.from({ length: 100 }, (_, index) => ticketOf(picture(index))),
    readImages: async (images) => {
      const files = images.slice(0, 4).map((image) => fileOf(image, 1024 * 1024));
      read += files.length;
      most = Math.max(most, read - drawn);
      return files;
    },
  });
  for await (const { elements } of ahead.tickets)
    for (const element of elements)
      if (element.type === "imagearea" && element.image !== null) {
        expect((await ahead.readImage(element.image))?.bytes[0]).toBe(drawn);
        drawn += 1;
      }
  expect(drawn).toBe(100);
  expect(most).toBeLessThanOrEqual(13);
});

it("fails with a picture where that is drawn, and not before", async () => {
  const tickets = [ticketOf(), ticketOf(picture(1)), ticketOf(picture(2))];
  const ahead = readPicturesAhead({
    tickets,
    readImages: async (images) => {
      if (images.some(({ position }) => position === 2)) throw new Error("gone");
      return images.map((image) => fileOf(image));
    },
  });
  const passed: Ticket[] = [];
  for await (const ticket of ahead.tickets) passed.push(ticket);
  expect(passed).toEqual(tickets);
  await expect(ahead.readImage({ position: 1, question: 1 })).resolves.toEqual(fileOf({ position: 1, question: 1 }));
  await expect(ahead.readImage({ position: 2, question: 1 })).rejects.toThrow("gone");
});

it("[L10.12] knows few tickets at a time that are full of letters", async () => {
  let read = 0;
  function* longTickets() {
    const element = textArea("order");
    for (; read < 100; read += 1)
      yield ticketOf({ ...element, type: "textarea", value: "x".repeat(300_000), language: "en" });
  }
  let [drawn, most] = [0, 0];
  for await (const _ of readPicturesAhead({ tickets: longTickets(), readImages: async () => [] }).tickets) {
    most = Math.max(most, read - drawn);
    drawn += 1;
  }
  expect(drawn).toBe(100);
  expect(most).toBeLessThan(5);
});
