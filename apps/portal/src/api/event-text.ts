/** One server-sent event. */
export type ServerEvent = {
  /** `message` where the server gives none. */
  readonly event: string;
  /** Where to go on after it; undefined: it names no place. */
  readonly id: string | undefined;
  readonly data: string;
};

/**
 * Parses server-sent events from text pieces cut anywhere. Each call returns the events that its piece completes.
 * Ignores comments and unknown fields.
 */
export function createEventReader(): (piece: string) => readonly ServerEvent[] {
  let rest = '';
  return (piece) => {
    const text = `${rest}${piece}`;
    // The other half of a line's end may come with the next piece.
    const isHalf = text.endsWith('\r');
    const blocks = (isHalf ? text.slice(0, -1) : text).replaceAll(/\r\n?/g, '\n').split('\n\n');
    rest = `${blocks.pop() ?? ''}${isHalf ? '\r' : ''}`;
    return blocks.flatMap(readBlock);
  };
}

function readBlock(block: string): readonly ServerEvent[] {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event:')) event = value;
    else if (line.startsWith('id:')) id = value;
    else if (line.startsWith('data:')) data.push(value);
  }
  return data.length === 0 ? [] : [{ event, id, data: data.join('\n') }];
}
