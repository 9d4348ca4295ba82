import { bindings } from './lib/keys.js';
import { useStore } from './lib/store.js';
import { Dialog } from './ui/dialog.js';

/** Every key binding of this screen. */
export function Help({ onClose }: { onClose: () => void }) {
  const all = useStore(bindings).flat();
  const shown = all.filter(({ key }, index) => all.findLastIndex((each) => each.key === key) === index);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {shown.map(({ key, label }) => (
          <>
            <dt>
              <kbd>{key === ' ' ? 'space' : key}</kbd>
            </dt>
            <dd>{label}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
