/** What the two HTTP servers share: requests, forms, replies. */
export { ClientGone, receiveFile } from './multipart.ts';
export { replayedHeader, sendJson } from './replies.ts';
export type { Exchange } from './server.ts';
