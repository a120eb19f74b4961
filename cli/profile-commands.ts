/** `profiles list|use|delete` (rules/cli#profiles). */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { localProfile, openProfiles, type Profile } from './profiles.ts';
import { readLocalPlatform } from './settings.ts';

type Listed = Pick<Profile, 'url' | 'name' | 'expires_at'> & {
  readonly profile: string;
  readonly kind: Profile['kind'] | 'local';
  readonly current: boolean;
};

const columns = {
  PROFILE: ({ profile }: Listed) => profile,
  CURRENT: ({ current }: Listed) => current,
  URL: ({ url }: Listed) => url,
  KIND: ({ kind }: Listed) => kind.replace('_', ' '),
  NAME: ({ name }: Listed) => name,
  EXPIRES: ({ expires_at: at }: Listed) => moment(at),
};

export function register(profiles: Command, context: CliContext): void {
  profiles
    .command('list')
    .description('Lists the stored profiles, and the platform that `npm start` runs in this folder')
    .action(() => {
      const items = listProfiles(context);
      context.print(items, table(items, columns, 'No profiles. Create one with `coherence login`.'));
    });

  profiles
    .command('use <name>')
    .description('Chooses the profile for commands without --profile')
    .action((name: string) => {
      const store = openProfiles(context.settings());
      if (name !== localProfile && !store.list().has(name))
        throw new CliError(`Profile ${name} does not exist.`, 'not_found');
      store.choose(name);
      context.print({ profile: name }, `Commands now use the profile ${name}.`);
    });

  profiles
    .command('delete <name>')
    .alias('remove')
    .description('Deletes a profile from this machine; `logout` also ends its login')
    .action((name: string) => {
      if (!openProfiles(context.settings()).remove(name))
        throw new CliError(`Profile ${name} does not exist.`, 'not_found');
      context.print({ profile: name }, `Deleted the profile ${name}.`);
    });
}

function listProfiles(context: CliContext): Listed[] {
  const settings = context.settings();
  const store = openProfiles(settings);
  const local = readLocalPlatform(settings);
  const current = settings['COHERENCE_PROFILE'] ?? store.current() ?? (local === undefined ? undefined : localProfile);
  const stored = [...store.list()].map(([profile, { url, kind, name, expires_at }]): Listed => {
    return { profile, current: profile === current, url, kind, name, expires_at };
  });
  const own: Listed[] =
    local === undefined
      ? []
      : [
          {
            profile: localProfile,
            current: current === localProfile,
            url: local.url,
            kind: 'local',
            name: local.email,
            expires_at: null,
          },
        ];
  return [...stored, ...own];
}
