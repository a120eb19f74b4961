/** Anchors of a page's headings, as GitHub makes them. */
export function listAnchors(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
