/** The measured surfaces: the content of their databases and the requests. */
import { conversationSeed, conversationsPerJourney, type SeedSizes } from './seed-sql.ts';
import { networkScenarios } from './network-scenarios.ts';
import { membershipCount, networkSeed, noteCount, relationshipCount, type NetworkSizes } from './network-sql.ts';
import type { Act } from './acts.ts';
import { operatorActs, operatorScenarios } from './operator-scenarios.ts';
import { conversationCount, operatorSeed, type OperatorSizes } from './operator-sql.ts';
import { createScenarios, type Scenario } from './scenarios.ts';
import type { Seed } from './fill.ts';
import type { Side } from './side.ts';
import { alignTargets, readTargets } from './targets.ts';

/** [small, large] */
type Pair<Value> = readonly [Value, Value];

export interface Surface {
  /** Database names. */
  readonly names: Pair<string>;
  readonly seeds: Pair<Seed>;
  readonly descriptions: Pair<string>;
  /** Group of the calling account. */
  readonly group?: string;
  /** Targets that only the large size must meet. */
  readonly promise?: { readonly p95Ms: number; readonly unscanned: readonly string[]; readonly actSeconds: number };
  /** Actions that run once on the large size, after all other measurements because they change data. */
  readonly acts?: readonly Act[];
  /**
   * Returns the same requests for both sizes. @param most maximum number of distinct objects used by the requests of an
   * operation
   */
  readScenarios(sides: Pair<Side>, most: number): Promise<Pair<Scenario[]>>;
}

export function conversationSurface(large: SeedSizes, smallConversations: number): Surface {
  const small: SeedSizes = {
    conversations: smallConversations,
    people: Math.max(100, Math.round(smallConversations / 5)),
    holons: Math.ceil(smallConversations / conversationsPerJourney) + 1,
  };
  const describe = (sizes: SeedSizes): string =>
    `${sizes.conversations} conversations, ${sizes.people} people, ${sizes.holons} holons`;
  return {
    names: ['small', 'large'],
    seeds: [conversationSeed(small), conversationSeed(large)],
    descriptions: [describe(small), describe(large)],
    readScenarios: async (sides, most) => {
      const targets = alignTargets(await readTargets(sides[0].pool, most), await readTargets(sides[1].pool, most));
      return [createScenarios(targets[0], sides[0].tokens), createScenarios(targets[1], sides[1].tokens)];
    },
  };
}

export function networkSurface(large: NetworkSizes, smallRecords: number): Surface {
  const small: NetworkSizes = { people: smallRecords, holons: smallRecords };
  const describe = (sizes: NetworkSizes): string =>
    `${sizes.people} people, ${sizes.holons} holons, ${membershipCount(sizes)} memberships, ${relationshipCount(sizes)} relationships, ${noteCount(sizes)} notes`;
  return {
    names: ['v1-small', 'v1-large'],
    seeds: [networkSeed(small), networkSeed(large)],
    descriptions: [describe(small), describe(large)],
    readScenarios: (sides) =>
      Promise.resolve([networkScenarios(small, sides[0].tokens.user), networkScenarios(large, sides[1].tokens.user)]),
  };
}

/** Surface of the operator lists, each of which must be fast among a million rows and scan no table (P7). */
export function operatorSurface(large: OperatorSizes, smallRecords: number): Surface {
  const small: OperatorSizes = { jobs: 10 * smallRecords, receipts: 10 * smallRecords };
  const describe = (sizes: OperatorSizes): string =>
    `${sizes.jobs} jobs, ${sizes.receipts} receipts, ${conversationCount(sizes)} conversations`;
  const services = ['agents', 'conversations', 'media', 'transcripts'];
  return {
    names: ['ops-small', 'ops-large'],
    seeds: [operatorSeed(small), operatorSeed(large)],
    descriptions: [describe(small), describe(large)],
    group: 'ops_operators',
    acts: operatorActs(),
    promise: {
      p95Ms: 200,
      actSeconds: 60,
      unscanned: [
        ...services.map((service) => `${service}.jobs`),
        'agents.webhook_receipts',
        'conversations.webhook_receipts',
      ],
    },
    readScenarios: (sides) =>
      Promise.resolve([operatorScenarios(small, sides[0].tokens.user), operatorScenarios(large, sides[1].tokens.user)]),
  };
}
