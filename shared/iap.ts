/** Google's Identity-Aware Proxy, as far as both sides of the wire must agree on it. */

/** Where IAP takes the WebSockets of tunnels to machines. */
export const iapTunnelUrl = 'wss://tunnel.cloudproxy.app/v4';
/** From which IAP connects to machines, as its documentation says. */
export const iapRange = '35.235.240.0/20';
/**
 * What a caller of tunnels needs on the project or on the VM. It holds the two permissions to open tunnels, to VMs and to hosts
 * behind connectors, and no others.
 */
export const tunnelRole = 'roles/iap.tunnelResourceAccessor';
