import type * as Library from './client.ts';
import type { ClientSettings } from './failure.ts';

type Opened = typeof Library & { readonly client: ReturnType<typeof Library.createClient> };

/** A client that is made, and whose library is loaded, when it is first asked for. */
export function openLazily(settings: ClientSettings): () => Promise<Opened> {
  let opened: Promise<Opened> | undefined;
  return () => (opened ??= import('./client.ts').then((library) => ({ ...library, client: library.createClient(settings) })));
}
