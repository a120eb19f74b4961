/** Checks NATS permissions, for `doctor` and for the set-up before an upgrade. */
import { buildNatsUrl } from '#libs/infrastructure/config';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus, type Permissions } from '#libs/infrastructure/nats';
import { componentOf, natsPermissions } from '#libs/infrastructure/release';
import { describeServerProblem } from './server-problem.ts';
import { brokerTarget } from './servers.ts';

type Settings = Readonly<Record<string, string | undefined>>;

const connectTimeoutMs = 3_000;

/** Returns the suffix of a user's variables for address and credentials, e.g. `_GATEWAY` in `NATS_URL_GATEWAY`. */
const endOf = (user: string): string => `_${componentOf(user).toUpperCase()}`;
const variableOf = (user: string): string => `NATS_URL${endOf(user)}`;

/**
 * Checks the NATS users whose addresses are set. @returns the checked users, and one message for each user with missing
 * permissions
 */
export async function checkNatsUsers(settings: Settings): Promise<{ checked: string[]; problems: string[] }> {
  const known = Object.entries(natsPermissions()).filter(([user]) => (settings[variableOf(user)] ?? '') !== '');
  const problems = await Promise.all(known.map(([user, needed]) => findProblem(user, needed, settings)));
  return { checked: known.map(([user]) => user), problems: problems.filter((problem) => problem !== undefined) };
}

async function findProblem(user: string, needed: Permissions, settings: Settings): Promise<string | undefined> {
  const url = buildNatsUrl(settings, endOf(user));
  const logger = createLogger({ service: 'cli', level: 'silent' });
  try {
    const bus = await connectBus({
      url,
      name: user,
      prefix: settings['NATS_SUBJECT_PREFIX'],
      logger,
      connectTimeoutMs,
    });
    try {
      return await bus.findMissingPermissions(needed);
    } finally {
      await bus.close();
    }
  } catch (error) {
    return describeServerProblem({ ...brokerTarget(url, variableOf(user)), detail: `user ${user}` }, error).message;
  }
}
