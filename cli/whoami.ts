/** `whoami`: shows which installation and account commands use (rules/cli#profiles). */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { fields } from './output/table.ts';

export function register(whoami: Command, context: CliContext): void {
  whoami.action(async () => {
    const { profile, url } = await context.target();
    const { person, key } = (await context.http((api) => api.whoami())).body;
    context.print(
      { profile: profile ?? null, url, person, key },
      fields({
        profile: profile ?? 'COHERENCE_URL and COHERENCE_KEY',
        url,
        person: `${person.name} (${person.id})`,
        key: key === null ? null : `${key.name} (${key.id}): ${key.scopes.join(', ')}`,
      }),
    );
  });
}
