/** A mixed load in seeded order: each client runs one scenario, and several share objects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from './client.ts';
import type { Entry, History } from './history.ts';
import { book, bookSeats, bookSeries } from './lives/bookings.ts';
import { chat, importTranscript, makePerson, writeToBot } from './lives/effects.ts';
import {
  findOrMake,
  finalReads,
  patchPair,
  patchPairBeside,
  recordSteps,
  renameHolon,
  uploadAudio,
  writeRoom,
} from './lives/objects.ts';
import type { ChaosPlatform } from './platform.ts';
import type { Random } from './random.ts';

/** A scenario. @returns a function that runs one step, which the client repeats */
export type Life = (client: Client) => Promise<() => Promise<void>>;

export interface Load {
  /** Stops the clients after their current requests. */
  stop(): Promise<void>;
  /** Reads every written object once more. */
  readEverything(): Promise<void>;
}

const lives: readonly Life[] = [
  patchPair,
  patchPairBeside,
  patchPairBeside,
  findOrMake,
  findOrMake,
  recordSteps,
  recordSteps,
  writeRoom,
  uploadAudio,
  renameHolon,
  book,
  writeToBot,
  chat,
  makePerson,
  importTranscript,
  bookSeats,
  bookSeries,
];
const thinkMs = { least: 80, more: 160 };

export function startLoad(target: ChaosPlatform, history: History, random: Random): Load {
  const run = { over: false, final: false };
  const clients = lives.map((_, number) =>
    createClient({
      number,
      random: random.fork(`client ${number}`),
      target,
      history,
      isOver: () => run.over && !run.final,
    }),
  );
  const running = clients.map(async (client, index) => {
    const step = await (lives[index] as Life)(client);
    while (!run.over) {
      await step();
      await sleep(thinkMs.least + client.random.below(thinkMs.more));
    }
  });
  return {
    stop: async () => {
      run.over = true;
      await Promise.all(running);
    },
    readEverything: async () => {
      run.final = true;
      const [client] = clients;
      if (client === undefined) return;
      for (const request of finalReads(history.entries, target)) await client.insist(request);
      await Promise.all(clients.map((item) => item.close()));
    },
  };
}

/** Lists the kinds of requests that were sent and answered. */
export function listKinds(entries: readonly Entry[]): string[] {
  return [...new Set(entries.map(({ kind }) => kind))].toSorted();
}
