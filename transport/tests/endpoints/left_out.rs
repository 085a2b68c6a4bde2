//! Devices that this program was built without.

use jstream_transport::{Address, ConnectError, ListenError, Options, connect, listen};

#[test]
fn an_address_of_a_device_that_was_left_out_names_the_feature() {
    let address: Address = "tls://localhost:1".parse().unwrap();
    let options = Options::default();
    let unconnected = connect(&address, &options).unwrap_err();
    let unheard = listen(&address, &options).unwrap_err();
    assert!(matches!(unconnected, ConnectError::NoDevice { .. }));
    assert!(matches!(unheard, ListenError::NoDevice { .. }));
    let text = "no device for tls://localhost:1: this program was built without the feature `tls` of \
                jstream-transport or jstream-rmi";
    assert_eq!(unconnected.to_string(), text);
    assert_eq!(unheard.to_string(), text);
}
