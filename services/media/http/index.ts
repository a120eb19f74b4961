/** Exports for uploads and downloads: requests, forms, replies. */
export { ClientDisconnected, receiveFile } from './multipart.ts';
export { replayedHeader, sendJson } from './replies.ts';
export type { Exchange } from './server.ts';
export { deleteExpiredTickets } from './statements.ts';
