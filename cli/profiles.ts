/** Profiles of the CLI: URL and credential of each installation, in a file that only its owner can read. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject } from '#libs/infrastructure/json';
import { CliError } from './failure.ts';

export interface Profile {
  /** Origin of the installation. */
  readonly url: string;
  readonly kind: 'login' | 'key' | 'identity_provider';
  readonly token: string;
  /** Email of the account, or name of the key. */
  readonly name: string;
  /** When the token expires; null: unknown or never. */
  readonly expires_at: string | null;
  /** Renews the token of an identity provider. */
  readonly refresh?: { readonly issuer: string; readonly client_id: string; readonly token: string };
}

export interface ProfileStore {
  /** Path of the file. */
  readonly file: string;
  /** Returns the profile for commands without `--profile`; undefined when none is chosen. */
  current(): string | undefined;
  list(): ReadonlyMap<string, Profile>;
  /** Stores the profile and makes it the current one. */
  save(name: string, profile: Profile, makeCurrent?: boolean): void;
  /** Makes an existing profile the current one; undefined: none. */
  choose(name: string | undefined): void;
  /** Returns whether the profile existed. */
  remove(name: string): boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

interface Content {
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Name of the profile of the platform that `npm start` runs in this folder. It is not stored. */
export const localProfile = 'local';

/** Returns the folder of the user's settings; undefined without a home folder. */
function findFolder(settings: Variables): string | undefined {
  const { COHERENCE_CONFIG_DIR: own, XDG_CONFIG_HOME: shared, HOME: home, APPDATA: windows } = settings;
  if (own) return own;
  const base = shared || windows || (home ? join(home, '.config') : undefined);
  return base === undefined ? undefined : join(base, 'coherence');
}

/** Reads and writes `profiles.json`. Without a home folder, the store is empty and cannot be written. */
export function openProfiles(settings: Variables): ProfileStore {
  const folder = findFolder(settings);
  const file = join(folder ?? '', 'profiles.json');
  const read = (): Content => (folder === undefined ? { profiles: {} } : readContent(file));
  const write = (content: Content): void => {
    if (folder === undefined) throw new CliError('Set COHERENCE_CONFIG_DIR or HOME: profiles are stored there.');
    writePrivateFile(file, `${JSON.stringify(content, null, 2)}\n`);
  };
  return {
    file,
    current: () => read().current,
    list: () => new Map(Object.entries(read().profiles)),
    save: (name, profile, makeCurrent = true) => {
      const { current, profiles } = read();
      write({ current: makeCurrent ? name : current, profiles: { ...profiles, [name]: profile } });
    },
    choose: (name) => write({ ...read(), current: name }),
    remove: (name) => {
      const { current, profiles } = read();
      if (!Object.hasOwn(profiles, name)) return false;
      const { [name]: _removed, ...rest } = profiles;
      write({ current: current === name ? undefined : current, profiles: rest });
      return true;
    },
  };
}

function readContent(file: string): Content {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
    throw error;
  }
  try {
    const content: unknown = JSON.parse(text);
    if (isJsonObject(content) && isJsonObject(content['profiles'])) return content as unknown as Content;
  } catch {
    // reported below, like other content that is not from this program
  }
  throw new CliError(`${file} is not a profiles file. Move it away and log in again.`);
}

/** Replaces the file atomically. It is readable only by its owner from the start. */
export function writePrivateFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}.partial`;
  writeFileSync(partial, text, { mode: 0o600 });
  chmodSync(partial, 0o600); // a leftover of the same name keeps its mode otherwise
  renameSync(partial, file);
}

/** @throws CliError when the text is not a name of a profile */
export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)) return name;
  throw new CliError('The name of a profile has letters, digits, ".", "_" and "-", at most 63.', 'usage');
}
