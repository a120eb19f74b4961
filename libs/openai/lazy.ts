import type * as Library from './client.ts';
import type { ClientSettings } from './failure.ts';

type LoadedClient = typeof Library & { readonly client: ReturnType<typeof Library.createClient> };

/** A client that is made, and whose library is loaded, when it is first asked for. */
export function createLazyClient(settings: ClientSettings): () => Promise<LoadedClient> {
  let opened: Promise<LoadedClient> | undefined;
  return () => (opened ??= import('./client.ts').then((library) => ({ ...library, client: library.createClient(settings) })));
}
