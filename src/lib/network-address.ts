import { BlockList, isIP } from 'node:net';

/**
 * The kind of network that an IP address belongs to. `special` are the addresses at which no honest service is reached remotely:
 * link-local (including a cloud's metadata service), multicast, unspecified, reserved.
 */
export type AddressKind = 'loopback' | 'private' | 'special' | 'public';

/** Throws a RangeError if the text is not an IP address. */
export function addressKind(address: string): AddressKind {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  switch (isIP(bare)) {
    case 4:
      return kindIn(bare, 'ipv4');
    case 6:
      return kindOfIpv6(bare);
    default:
      throw new RangeError(`${address} is not an IP address`);
  }
}

/** Whether a host name by itself means this machine. */
export function isLoopbackName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIpLiteral(name) && addressKind(name) === 'loopback';
}

export function isIpLiteral(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

function kindOfIpv6(address: string): AddressKind {
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) return kindIn(embedded, 'ipv4');
  return kindIn(address, 'ipv6');
}

/** An IPv6 address that embeds IPv4 reaches the IPv4 address: mapped, compatible, NAT64 and 6to4. */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const at = (index: number): number => groups[index] as number;
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const startsWithZeros = (count: number): boolean => groups.slice(0, count).every((group) => group === 0);
  if (at(0) === 0x2002) return ipv4(at(1), at(2));
  if (at(0) === 0x64 && at(1) === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return ipv4(at(6), at(7));
  if (startsWithZeros(5) && at(5) === 0xffff) return ipv4(at(6), at(7));
  if (startsWithZeros(6) && at(6) !== 0) return ipv4(at(6), at(7));
  return undefined;
}

function groupsOf(address: string): number[] {
  // The URL parser normalises every spelling: lower case, hexadecimal, shortest.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return parse(head);
  const [left, right] = [parse(head), parse(tail)];
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function kindIn(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  for (const { kind, list } of KINDS) if (list.check(address, family)) return kind;
  return 'public';
}

type Range = readonly [network: string, prefix: number];

function listOf(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6');
  return list;
}

const KINDS: readonly { readonly kind: AddressKind; readonly list: BlockList }[] = [
  { kind: 'loopback', list: listOf([['127.0.0.0', 8]], [['::1', 128]]) },
  {
    kind: 'private',
    list: listOf(
      [
        ['10.0.0.0', 8],
        ['172.16.0.0', 12],
        ['192.168.0.0', 16],
        ['100.64.0.0', 10],
      ],
      [
        ['fc00::', 7],
        ['fec0::', 10],
      ],
    ),
  },
  {
    kind: 'special',
    list: listOf(
      [
        ['0.0.0.0', 8],
        ['169.254.0.0', 16],
        ['192.0.0.0', 24],
        ['192.0.2.0', 24],
        ['198.18.0.0', 15],
        ['198.51.100.0', 24],
        ['203.0.113.0', 24],
        ['224.0.0.0', 4],
        ['240.0.0.0', 4],
      ],
      [
        ['::', 128],
        ['64:ff9b:1::', 48],
        ['100::', 64],
        ['2001::', 32],
        ['2001:db8::', 32],
        ['fe80::', 10],
        ['ff00::', 8],
      ],
    ),
  },
];
