"""How Keras is usually fed: `keras.utils.image_dataset_from_directory`, a pipeline of tf.data.

Keras reads folders through TensorFlow in every backend.
"""


def batches_of_files(spec: dict):
    """Batches (images (N, H, W, C) in -1 to 1, labels) without end, of the folder ``spec["path"]``,
    in random order. ``spec["data_threads"]`` threads make batches ahead; 0: the step itself waits
    for each."""
    import keras
    import tensorflow as tf

    _, height, width = spec["graph"]["input"]
    images = keras.utils.image_dataset_from_directory(
        spec["path"],
        batch_size=None,
        image_size=(height, width),
        seed=spec["seed"],
        verbose=False,
    )
    threads = spec["data_threads"]

    def scaled(image, label):
        return (image - 127.5) / 128, label % spec["classes"]

    batches = images.repeat().map(scaled, num_parallel_calls=threads or None)
    batches = batches.batch(spec["batch"], drop_remainder=True)
    options = tf.data.Options()
    options.threading.private_threadpool_size = max(threads, 1)
    batches = batches.with_options(options)
    return (batches.prefetch(threads) if threads else batches).as_numpy_iterator()
