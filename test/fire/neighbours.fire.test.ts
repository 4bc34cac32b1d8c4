import { afterAll } from "vitest";
import { stopSharedPlatform } from "../e2e/test-platform.ts";
// In one process, where neighbours share everything, they are among the tests of each change.
import "../failure/noisy-neighbour.e2e.test.ts";

afterAll(stopSharedPlatform);
