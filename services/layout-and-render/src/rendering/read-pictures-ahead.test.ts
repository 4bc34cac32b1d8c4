import { expect, it } from "vitest";
import type { AnswerImage, ResolvedElement } from "../domain/resolved-element.ts";
import { readPicturesAhead } from "./read-pictures-ahead.ts";
import type { ImageFile, Ticket } from "./ticket.ts";

const picture = (position: number, question = 1): ResolvedElement => ({
  ...{ type: "imagearea", page: 1, left: 0, bottom: 0, width: 10, height: 10, content: "question_PHOTO" },
  image: { position, question },
});
const ticketOf = (...elements: ResolvedElement[]): Ticket => ({ elements, background: null });
const fileOf = ({ position, question }: AnswerImage): ImageFile => ({
  type: "image/png",
  bytes: Uint8Array.of(position, question),
});

async function drawAll(
  tickets: readonly Ticket[],
  readImage: (image: AnswerImage) => Promise<ImageFile | undefined>,
): Promise<(ImageFile | undefined)[]> {
  const request = readPicturesAhead({ tickets, readImage });
  const drawn: (ImageFile | undefined)[] = [];
  for await (const { elements } of request.tickets)
    for (const element of elements)
      if (element.type === "imagearea" && element.image !== null) drawn.push(await request.readImage(element.image));
  return drawn;
}

it("gives each ticket its own pictures, and reads the first of eight tickets at a time", async () => {
  let [reading, most] = [0, 0];
  const tickets = Array.from({ length: 30 }, (_, index) => ticketOf(picture(index), picture(index, 2)));
  const drawn = await drawAll(tickets, async (image) => {
    reading += 1;
    most = Math.max(most, reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
    return fileOf(image);
  });
  expect(drawn).toEqual(tickets.flatMap((_, index) => [1, 2].map((question) => fileOf({ position: index, question }))));
  expect(most).toBe(8);
});

it("fails with a picture where that is drawn, and not before", async () => {
  const tickets = [ticketOf(), ticketOf(picture(1)), ticketOf(picture(2))];
  const request = readPicturesAhead({
    tickets,
    readImage: (image) => (image.position === 2 ? Promise.reject(new Error("gone")) : Promise.resolve(fileOf(image))),
  });
  const passed: Ticket[] = [];
  for await (const ticket of request.tickets) passed.push(ticket);
  expect(passed).toEqual(tickets);
  await expect(request.readImage({ position: 1, question: 1 })).resolves.toEqual(fileOf({ position: 1, question: 1 }));
  await expect(request.readImage({ position: 2, question: 1 })).rejects.toThrow("gone");
});
