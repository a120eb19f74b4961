/** Keys that sign the actor assertions of `npm start`, generated once per folder and readable only by its owner. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ActorKeys, generateActorKeys } from '#libs/infrastructure/actor';

/**
 * Returns ACTOR_SIGNING_KEY and ACTOR_PUBLIC_KEY of the environment if both are set, otherwise the keys of the folder.
 */
export function provideActorKeys(
  env: Readonly<Record<string, string | undefined>>,
  dataDir: string,
): Record<string, string> {
  const { ACTOR_SIGNING_KEY: given, ACTOR_PUBLIC_KEY: givenPublic } = env;
  if (given && givenPublic) return { ACTOR_SIGNING_KEY: given, ACTOR_PUBLIC_KEY: givenPublic };
  const file = join(dataDir, 'actor-keys.json');
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(generateActorKeys()), { mode: 0o600, flag: 'wx' });
  const { signingKey, publicKey } = JSON.parse(readFileSync(file, 'utf8')) as ActorKeys;
  return { ACTOR_SIGNING_KEY: signingKey, ACTOR_PUBLIC_KEY: publicKey };
}
