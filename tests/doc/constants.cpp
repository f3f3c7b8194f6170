// Prints the tables of docs/constants.md, or with --zh those of docs/constants.zh-CN.md. Names and numbers are those of
// the headers that it was compiled with; the times are computed as common/units.hpp has them.
#include "common/units.hpp"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace {

struct Words {
  const char* english;
  const char* chinese;
};

struct Row {
  const char* name;
  std::int64_t value;
  Words meaning;
};

// A macro, so that the name is always that of the value.
#define ROW(name, english, chinese)   \
  Row {                               \
#name, name, { english, chinese } \
  }

bool in_chinese = false;

const char* in_language(const Words& words) { return in_chinese ? words.chinese : words.english; }

void line(std::initializer_list<std::string> cells) {
  for (const std::string& cell : cells) {
    std::printf("| %s ", cell.c_str());
  }
  std::printf("|\n");
}

void head(std::initializer_list<Words> titles) {
  static bool first = true;
  if (!first) {
    std::printf("\n");
  }
  first = false;
  for (const Words& title : titles) {
    std::printf("| %s ", in_language(title));
  }
  std::printf("|\n");
  for (std::size_t column = 0; column < titles.size(); ++column) {
    std::printf("|---");
  }
  std::printf("|\n");
}

std::string code(std::string_view text) { return "`" + std::string{text} + "`"; }

std::string hexadecimal(std::int64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

constexpr Words name_title{"name", "名称"};
constexpr Words value_title{"value", "值"};
constexpr Words text_title{"text", "文字"};
constexpr Words meaning_title{"meaning", "含义"};

template <std::size_t count>
void table(const std::array<Row, count>& rows) {
  head({name_title, value_title, meaning_title});
  for (const Row& row : rows) {
    line({code(row.name), std::to_string(row.value), in_language(row.meaning)});
  }
}

// Values that are combined with "|".
template <std::size_t count>
void bits(const std::array<Row, count>& rows) {
  head({name_title, value_title, meaning_title});
  for (const Row& row : rows) {
    line({code(row.name), hexadecimal(row.value), in_language(row.meaning)});
  }
}

// Values for which the library has a text.
template <class Value, std::size_t count>
void texts(const std::array<Row, count>& rows, const char* (*text)(Value)) {
  head({name_title, value_title, text_title, meaning_title});
  for (const Row& row : rows) {
    line({code(row.name), std::to_string(row.value), text(static_cast<Value>(row.value)), in_language(row.meaning)});
  }
}

std::string time_text(double milliseconds) {
  struct Unit {
    double milliseconds;
    const char* name;
  };
  std::array<char, 32> text{};
  for (const Unit unit : {Unit{1000, "s"}, Unit{1, "ms"}, Unit{0.001, "us"}}) {
    if (milliseconds >= unit.milliseconds) {
      std::snprintf(text.data(), text.size(), "%.4g %s", milliseconds / unit.milliseconds, unit.name);
      break;
    }
  }
  return text.data();
}

void mtus() {
  head({name_title, value_title, {"bytes", "字节"}});
  for (const Row& row : {ROW(IBV_MTU_256, "", ""), ROW(IBV_MTU_512, "", ""), ROW(IBV_MTU_1024, "", ""),
                         ROW(IBV_MTU_2048, "", ""), ROW(IBV_MTU_4096, "", "")}) {
    line({code(row.name), std::to_string(row.value), std::to_string(lab::mtu_bytes(static_cast<ibv_mtu>(row.value)))});
  }
}

void timers() {
  constexpr Words none{"none: it waits for ever", "没有超时：一直等"};
  head({value_title, {"`timeout`", "`timeout`"}, {"`min_rnr_timer`", "`min_rnr_timer`"}});
  for (unsigned value = 0; value < 32; ++value) {
    const double timeout = lab::ack_timeout_ms(value);
    std::array<char, 32> timer{};
    std::snprintf(timer.data(), timer.size(), "%.2f ms", lab::rnr_timer_ms(value));
    line({std::to_string(value), value == 0 ? in_language(none) : time_text(timeout), timer.data()});
  }
}

void retries() {
  head({value_title, {"`retry_cnt`", "`retry_cnt`"}, {"`rnr_retry`", "`rnr_retry`"}});
  constexpr Words never{"not sent again", "不重发"};
  constexpr Words as_often{"sent again as many times", "最多重发这么多次"};
  constexpr Words seven{"seven times; Soft-RoCE: without end", "七次；Soft-RoCE：无限次"};
  constexpr Words endless{"without end", "无限次"};
  line({"0", in_language(never), in_language(never)});
  line({"1 - 6", in_language(as_often), in_language(as_often)});
  line({"7", in_language(seven), in_language(endless)});
}

constexpr std::array accesses{
    ROW(IBV_ACCESS_LOCAL_WRITE,
        "the device may write here: receives, the local side of RDMA reads and atomics. Reading needs no flag",
        "设备可以写这段内存：接收、RDMA 读和原子操作的本地一侧。读不需要标志"),
    ROW(IBV_ACCESS_REMOTE_WRITE, "the peer may write; needs `LOCAL_WRITE` as well",
        "对端可以写；必须同时有 `LOCAL_WRITE`"),
    ROW(IBV_ACCESS_REMOTE_READ, "the peer may read", "对端可以读"),
    ROW(IBV_ACCESS_REMOTE_ATOMIC, "the peer may use atomics; needs `LOCAL_WRITE` as well",
        "对端可以做原子操作；必须同时有 `LOCAL_WRITE`"),
    ROW(IBV_ACCESS_MW_BIND, "memory windows may be bound to it", "可以在上面绑定内存窗口"),
    ROW(IBV_ACCESS_ZERO_BASED, "addresses in requests are offsets from its begin", "请求里的地址是相对开头的偏移"),
    ROW(IBV_ACCESS_ON_DEMAND, "pages are not pinned but faulted in by the device; not every device can",
        "内存页不锁定，由设备按需调入；并非每种设备都支持"),
    ROW(IBV_ACCESS_HUGETLB, "the memory is made of huge pages (with `ON_DEMAND`)",
        "内存由大页组成（与 `ON_DEMAND` 合用）"),
    ROW(IBV_ACCESS_RELAXED_ORDERING, "the device may write in another order; ignored where it cannot",
        "设备可以改变写入顺序；做不到的设备忽略它"),
};

constexpr std::array states{
    ROW(IBV_QPS_RESET, "new; does nothing", "新建；什么也不做"),
    ROW(IBV_QPS_INIT, "takes receives, answers nothing", "收下接收请求，什么也不应答"),
    ROW(IBV_QPS_RTR, "ready to receive", "可以接收"),
    ROW(IBV_QPS_RTS, "ready to send", "可以发送"),
    ROW(IBV_QPS_SQD, "the send queue is drained", "排空发送队列"),
    ROW(IBV_QPS_SQE, "the send queue has failed; UC and UD only", "发送队列出错；只有 UC 和 UD 有"),
    ROW(IBV_QPS_ERR, "ends what is posted with status 5", "已提交的请求以状态 5 结束"),
    ROW(IBV_QPS_UNKNOWN, "not known to the library", "库不认识的状态"),
};

constexpr std::array types{
    ROW(IBV_QPT_RC, "reliable connection", "可靠连接"),
    ROW(IBV_QPT_UC, "unreliable connection", "不可靠连接"),
    ROW(IBV_QPT_UD, "unreliable datagram", "不可靠数据报"),
    ROW(IBV_QPT_RAW_PACKET, "Ethernet frames as they are; not on Soft-RoCE", "原样的以太网帧；Soft-RoCE 没有"),
    ROW(IBV_QPT_XRC_SEND, "extended reliable connection, the sending end; not on Soft-RoCE",
        "扩展可靠连接的发送端；Soft-RoCE 没有"),
    ROW(IBV_QPT_XRC_RECV, "the receiving end of it; not on Soft-RoCE", "扩展可靠连接的接收端；Soft-RoCE 没有"),
    ROW(IBV_QPT_DRIVER, "defined by the driver", "由驱动定义"),
};

constexpr std::array masks{
    ROW(IBV_QP_STATE, "`qp_state`: in each step", "`qp_state`：每一步都要"),
    ROW(IBV_QP_CUR_STATE, "`cur_qp_state`: the state that is believed to be the present one",
        "`cur_qp_state`：程序认为的当前状态"),
    ROW(IBV_QP_EN_SQD_ASYNC_NOTIFY, "`en_sqd_async_notify`: RTS to SQD", "`en_sqd_async_notify`：RTS 到 SQD"),
    ROW(IBV_QP_ACCESS_FLAGS, "`qp_access_flags`: INIT, for RC and UC", "`qp_access_flags`：RC 和 UC 的 INIT"),
    ROW(IBV_QP_PKEY_INDEX, "`pkey_index`: INIT", "`pkey_index`：INIT"),
    ROW(IBV_QP_PORT, "`port_num`: INIT", "`port_num`：INIT"),
    ROW(IBV_QP_QKEY, "`qkey`: INIT, for UD", "`qkey`：UD 的 INIT"),
    ROW(IBV_QP_AV, "`ah_attr`: RTR, for RC and UC", "`ah_attr`：RC 和 UC 的 RTR"),
    ROW(IBV_QP_PATH_MTU, "`path_mtu`: RTR, for RC and UC", "`path_mtu`：RC 和 UC 的 RTR"),
    ROW(IBV_QP_TIMEOUT, "`timeout`: RTS, for RC", "`timeout`：RC 的 RTS"),
    ROW(IBV_QP_RETRY_CNT, "`retry_cnt`: RTS, for RC", "`retry_cnt`：RC 的 RTS"),
    ROW(IBV_QP_RNR_RETRY, "`rnr_retry`: RTS, for RC", "`rnr_retry`：RC 的 RTS"),
    ROW(IBV_QP_RQ_PSN, "`rq_psn`: RTR, for RC and UC", "`rq_psn`：RC 和 UC 的 RTR"),
    ROW(IBV_QP_MAX_QP_RD_ATOMIC, "`max_rd_atomic`: RTS, for RC", "`max_rd_atomic`：RC 的 RTS"),
    ROW(IBV_QP_ALT_PATH, "`alt_ah_attr` and what belongs to it: a second path",
        "`alt_ah_attr` 以及相关的属性：第二条路径"),
    ROW(IBV_QP_MIN_RNR_TIMER, "`min_rnr_timer`: RTR, for RC", "`min_rnr_timer`：RC 的 RTR"),
    ROW(IBV_QP_SQ_PSN, "`sq_psn`: RTS", "`sq_psn`：RTS"),
    ROW(IBV_QP_MAX_DEST_RD_ATOMIC, "`max_dest_rd_atomic`: RTR, for RC", "`max_dest_rd_atomic`：RC 的 RTR"),
    ROW(IBV_QP_PATH_MIG_STATE, "`path_mig_state`: path migration", "`path_mig_state`：路径迁移"),
    ROW(IBV_QP_CAP, "`cap`: other queue lengths, where the device can", "`cap`：改变队列长度，要设备支持"),
    ROW(IBV_QP_DEST_QPN, "`dest_qp_num`: RTR, for RC and UC", "`dest_qp_num`：RC 和 UC 的 RTR"),
    ROW(IBV_QP_RATE_LIMIT, "`rate_limit`: for raw packet QPs", "`rate_limit`：raw packet QP"),
};

constexpr std::array opcodes{
    ROW(IBV_WR_RDMA_WRITE, "RC, UC", "RC、UC"),
    ROW(IBV_WR_RDMA_WRITE_WITH_IMM, "RC, UC; takes a receive of the peer", "RC、UC；消耗对端的一个接收请求"),
    ROW(IBV_WR_SEND, "RC, UC, UD", "RC、UC、UD"),
    ROW(IBV_WR_SEND_WITH_IMM, "RC, UC, UD; 32 bits more", "RC、UC、UD；多带 32 位数据"),
    ROW(IBV_WR_RDMA_READ, "RC", "RC"),
    ROW(IBV_WR_ATOMIC_CMP_AND_SWP, "RC; 8 bytes at a multiple of 8", "RC；8 字节，地址是 8 的倍数"),
    ROW(IBV_WR_ATOMIC_FETCH_AND_ADD, "RC; 8 bytes at a multiple of 8", "RC；8 字节，地址是 8 的倍数"),
    ROW(IBV_WR_LOCAL_INV, "RC, UC; makes an rkey of this side invalid", "RC、UC；让本端的一个 rkey 失效"),
    ROW(IBV_WR_BIND_MW, "RC, UC; binds a memory window", "RC、UC；绑定内存窗口"),
    ROW(IBV_WR_SEND_WITH_INV, "RC, UC; a send that makes an rkey of the peer invalid",
        "RC、UC；发送，同时让对端的一个 rkey 失效"),
    ROW(IBV_WR_TSO, "UD and raw packets: the device cuts a long segment", "UD 和 raw packet：由设备切分长报文段"),
    ROW(IBV_WR_DRIVER1, "defined by the driver", "由驱动定义"),
};

constexpr std::array send_flags{
    ROW(IBV_SEND_FENCE, "begin only after the RDMA reads and atomics before it have ended",
        "前面的 RDMA 读和原子操作结束之后才开始"),
    ROW(IBV_SEND_SIGNALED, "leave a completion also on success", "成功时也产生完成项"),
    ROW(IBV_SEND_SOLICITED, "wake a receiver that has armed for solicited events only",
        "唤醒只为 solicited 事件请求了通知的接收方"),
    ROW(IBV_SEND_INLINE, "copy the data at the post; no lkey is needed", "提交时就复制数据；不需要 lkey"),
    ROW(IBV_SEND_IP_CSUM, "let the device compute the checksums of IPv4 and of TCP or UDP (raw packets, UD)",
        "由设备计算 IPv4 和 TCP/UDP 的校验和（raw packet、UD）"),
};

constexpr std::array statuses{
    ROW(IBV_WC_SUCCESS, "done", "已完成"),
    ROW(IBV_WC_LOC_LEN_ERR, "too long for the receive, or for the port", "对接收请求或端口来说太长"),
    ROW(IBV_WC_LOC_QP_OP_ERR, "this QP cannot carry it out", "这个 QP 无法执行"),
    ROW(IBV_WC_LOC_EEC_OP_ERR, "reliable datagrams; not in use", "可靠数据报；已不使用"),
    ROW(IBV_WC_LOC_PROT_ERR, "lkey, range or right of this side's memory", "本端内存的 lkey、范围或权限不对"),
    ROW(IBV_WC_WR_FLUSH_ERR, "has ended because the QP is in ERR", "因为 QP 处于 ERR 而结束"),
    ROW(IBV_WC_MW_BIND_ERR, "a memory window could not be bound", "内存窗口绑定失败"),
    ROW(IBV_WC_BAD_RESP_ERR, "an answer that does not fit", "收到的应答不对"),
    ROW(IBV_WC_LOC_ACCESS_ERR, "this side's memory refused a write with immediate data", "本端内存拒绝了带立即数的写"),
    ROW(IBV_WC_REM_INV_REQ_ERR, "the peer's QP refused", "对端的 QP 拒绝"),
    ROW(IBV_WC_REM_ACCESS_ERR, "the peer's memory refused", "对端的内存拒绝"),
    ROW(IBV_WC_REM_OP_ERR, "the peer could not carry it out", "对端无法执行"),
    ROW(IBV_WC_RETRY_EXC_ERR, "no acknowledgement, `retry_cnt` times", "重试 `retry_cnt` 次，仍没有确认"),
    ROW(IBV_WC_RNR_RETRY_EXC_ERR, "no receive posted there, `rnr_retry` times",
        "重试 `rnr_retry` 次，对端仍没有接收请求"),
    ROW(IBV_WC_LOC_RDD_VIOL_ERR, "reliable datagrams; not in use", "可靠数据报；已不使用"),
    ROW(IBV_WC_REM_INV_RD_REQ_ERR, "reliable datagrams; not in use", "可靠数据报；已不使用"),
    ROW(IBV_WC_REM_ABORT_ERR, "the peer has given up", "对端放弃"),
    ROW(IBV_WC_INV_EECN_ERR, "reliable datagrams; not in use", "可靠数据报；已不使用"),
    ROW(IBV_WC_INV_EEC_STATE_ERR, "reliable datagrams; not in use", "可靠数据报；已不使用"),
    ROW(IBV_WC_FATAL_ERR, "the device has failed", "设备故障"),
    ROW(IBV_WC_RESP_TIMEOUT_ERR, "no answer in time", "没有按时得到应答"),
    ROW(IBV_WC_GENERAL_ERR, "anything else; see `vendor_err`", "其他错误；看 `vendor_err`"),
    ROW(IBV_WC_TM_ERR, "tag matching", "标签匹配"),
    ROW(IBV_WC_TM_RNDV_INCOMPLETE, "tag matching: the program has to fetch the data", "标签匹配：数据要由程序去取"),
};

constexpr std::array wc_opcodes{
    ROW(IBV_WC_SEND, "a send", "发送"),
    ROW(IBV_WC_RDMA_WRITE, "an RDMA write, with immediate data or without", "RDMA 写，带或不带立即数"),
    ROW(IBV_WC_RDMA_READ, "an RDMA read", "RDMA 读"),
    ROW(IBV_WC_COMP_SWAP, "a compare and swap", "比较并交换"),
    ROW(IBV_WC_FETCH_ADD, "a fetch and add", "取并加"),
    ROW(IBV_WC_BIND_MW, "a memory window was bound", "绑定内存窗口"),
    ROW(IBV_WC_LOCAL_INV, "an rkey was made invalid", "rkey 已失效"),
    ROW(IBV_WC_TSO, "a segment that the device has cut", "由设备切分的报文段"),
    ROW(IBV_WC_RECV, "a receive that took a message", "收到消息的接收请求"),
    ROW(IBV_WC_RECV_RDMA_WITH_IMM, "a receive that an RDMA write with immediate data has taken",
        "被带立即数的 RDMA 写消耗的接收请求"),
};

constexpr std::array wc_flags{
    ROW(IBV_WC_GRH, "a GRH stands in the first 40 bytes (UD)", "开头 40 字节是 GRH（UD）"),
    ROW(IBV_WC_WITH_IMM, "`imm_data` is valid, in network byte order", "`imm_data` 有效，网络字节序"),
    ROW(IBV_WC_IP_CSUM_OK, "the device has found the checksums of IPv4 and of TCP or UDP right",
        "设备检查过 IPv4 和 TCP/UDP 的校验和，没有错"),
    ROW(IBV_WC_WITH_INV, "`invalidated_rkey` is valid", "`invalidated_rkey` 有效"),
};

constexpr std::array port_states{
    ROW(IBV_PORT_NOP, "no change; not a state of a port", "不变；不是端口的状态"),
    ROW(IBV_PORT_DOWN, "no link", "没有链路"),
    ROW(IBV_PORT_INIT, "a link, and no subnet manager yet", "有链路，还没有子网管理器"),
    ROW(IBV_PORT_ARMED, "the subnet manager is at it", "子网管理器正在配置"),
    ROW(IBV_PORT_ACTIVE, "carries traffic", "可以传数据"),
    ROW(IBV_PORT_ACTIVE_DEFER, "carries traffic, and the link was lost for a moment", "可以传数据，链路刚断过一下"),
};

constexpr std::array link_layers{
    ROW(IBV_LINK_LAYER_UNSPECIFIED, "an old driver that does not say; taken for InfiniBand",
        "旧驱动没有说明；当作 InfiniBand"),
    ROW(IBV_LINK_LAYER_INFINIBAND, "InfiniBand: LIDs, a subnet manager", "InfiniBand：有 LID 和子网管理器"),
    ROW(IBV_LINK_LAYER_ETHERNET, "Ethernet: RoCE, iWARP, Soft-RoCE; a GID is needed",
        "以太网：RoCE、iWARP、Soft-RoCE；需要 GID"),
};

constexpr std::array transports{
    ROW(IBV_TRANSPORT_IB, "InfiniBand, and RoCE too", "InfiniBand，也包括 RoCE"),
    ROW(IBV_TRANSPORT_IWARP, "iWARP: connected by rdma_cm only", "iWARP：只能用 rdma_cm 建立连接"),
};

constexpr std::array gid_types{
    ROW(IBV_GID_TYPE_IB, "InfiniBand", "InfiniBand"),
    ROW(IBV_GID_TYPE_ROCE_V1, "RoCE v1: stays within an Ethernet segment", "RoCE v1：出不了一个以太网段"),
    ROW(IBV_GID_TYPE_ROCE_V2, "RoCE v2: UDP over IP, routable", "RoCE v2：IP 之上的 UDP，可以路由"),
};

// What ibv_port_attr has as a mere number: verbs.h has no names for these.
struct Number {
  int value;
  Words meaning;
};

template <std::size_t count>
void numbers(const std::array<Number, count>& rows) {
  head({value_title, meaning_title});
  for (const Number& row : rows) {
    line({std::to_string(row.value), in_language(row.meaning)});
  }
}

constexpr std::array widths{
    Number{1, {"1 lane", "1 个通道"}},    Number{2, {"4 lanes", "4 个通道"}},  Number{4, {"8 lanes", "8 个通道"}},
    Number{8, {"12 lanes", "12 个通道"}}, Number{16, {"2 lanes", "2 个通道"}},
};

constexpr std::array speeds{
    Number{1, {"2.5 Gbit/s (SDR)", "2.5 Gbit/s（SDR）"}}, Number{2, {"5 Gbit/s (DDR)", "5 Gbit/s（DDR）"}},
    Number{4, {"10 Gbit/s (QDR)", "10 Gbit/s（QDR）"}},   Number{8, {"10 Gbit/s (FDR10)", "10 Gbit/s（FDR10）"}},
    Number{16, {"14 Gbit/s (FDR)", "14 Gbit/s（FDR）"}},  Number{32, {"25 Gbit/s (EDR)", "25 Gbit/s（EDR）"}},
    Number{64, {"50 Gbit/s (HDR)", "50 Gbit/s（HDR）"}},  Number{128, {"100 Gbit/s (NDR)", "100 Gbit/s（NDR）"}},
};

constexpr std::array phys_states{
    Number{1, {"sleeping", "休眠"}},
    Number{2, {"polling: looks for the other end of the cable", "polling：在找线缆的另一端"}},
    Number{3, {"disabled", "已禁用"}},
    Number{4, {"training", "正在协商"}},
    Number{5, {"link up", "链路已建立"}},
    Number{6, {"recovers from a link error", "链路出错，正在恢复"}},
    Number{7, {"test of the transceivers", "收发器测试"}},
};

constexpr std::array events{
    ROW(IBV_EVENT_CQ_ERR, "a CQ has overflowed", "CQ 溢出"),
    ROW(IBV_EVENT_QP_FATAL, "a QP has failed, and no completion can say so", "QP 出错，没有完成项可以报告"),
    ROW(IBV_EVENT_QP_REQ_ERR, "a request of the peer was invalid", "对端的请求无效"),
    ROW(IBV_EVENT_QP_ACCESS_ERR, "a request of the peer violated the access rights", "对端的请求违反了访问权限"),
    ROW(IBV_EVENT_COMM_EST, "the first message has come to a QP in RTR", "处于 RTR 的 QP 收到第一条消息"),
    ROW(IBV_EVENT_SQ_DRAINED, "the send queue is empty, in SQD", "在 SQD 中，发送队列已排空"),
    ROW(IBV_EVENT_PATH_MIG, "the connection has moved to the second path", "连接已换到第二条路径"),
    ROW(IBV_EVENT_PATH_MIG_ERR, "and could not", "换路径失败"),
    ROW(IBV_EVENT_DEVICE_FATAL, "the device has failed: close all", "设备故障：关闭一切"),
    ROW(IBV_EVENT_PORT_ACTIVE, "a port has become active", "端口变为 active"),
    ROW(IBV_EVENT_PORT_ERR, "a port has gone down", "端口断开"),
    ROW(IBV_EVENT_LID_CHANGE, "the LID has changed", "LID 变了"),
    ROW(IBV_EVENT_PKEY_CHANGE, "the table of partition keys has changed", "分区键表变了"),
    ROW(IBV_EVENT_SM_CHANGE, "there is another subnet manager", "换了子网管理器"),
    ROW(IBV_EVENT_SRQ_ERR, "an SRQ has failed", "SRQ 出错"),
    ROW(IBV_EVENT_SRQ_LIMIT_REACHED, "an SRQ has fewer receives than its limit; comes once",
        "SRQ 的接收请求少于设定的下限；只来一次"),
    ROW(IBV_EVENT_QP_LAST_WQE_REACHED, "a QP in ERR takes nothing more from its SRQ",
        "处于 ERR 的 QP 不再从 SRQ 取请求"),
    ROW(IBV_EVENT_CLIENT_REREGISTER, "the subnet manager wants subscriptions renewed", "子网管理器要求重新登记"),
    ROW(IBV_EVENT_GID_CHANGE, "the GID table has changed", "GID 表变了"),
    ROW(IBV_EVENT_WQ_FATAL, "a work queue of raw packets has failed", "raw packet 的工作队列出错"),
};

constexpr std::array cm_events{
    ROW(RDMA_CM_EVENT_ADDR_RESOLVED, "`rdma_resolve_addr` is done: the device is known",
        "`rdma_resolve_addr` 完成：设备已定"),
    ROW(RDMA_CM_EVENT_ADDR_ERROR, "and has failed", "它失败了"),
    ROW(RDMA_CM_EVENT_ROUTE_RESOLVED, "`rdma_resolve_route` is done", "`rdma_resolve_route` 完成"),
    ROW(RDMA_CM_EVENT_ROUTE_ERROR, "and has failed", "它失败了"),
    ROW(RDMA_CM_EVENT_CONNECT_REQUEST, "server: a client wants to connect; with a new cm_id",
        "服务器：有客户端要连接；带一个新的 cm_id"),
    ROW(RDMA_CM_EVENT_CONNECT_RESPONSE, "client: an answer, for a cm_id without a QP",
        "客户端：收到应答，cm_id 没有 QP 时才有"),
    ROW(RDMA_CM_EVENT_CONNECT_ERROR, "the handshake has failed", "握手失败"),
    ROW(RDMA_CM_EVENT_UNREACHABLE, "the other side does not answer", "对端没有应答"),
    ROW(RDMA_CM_EVENT_REJECTED, "the other side has said no; 8: nobody listens, 28: the program has",
        "对端拒绝；8：没有人监听，28：是程序拒绝的"),
    ROW(RDMA_CM_EVENT_ESTABLISHED, "connected", "连接已建立"),
    ROW(RDMA_CM_EVENT_DISCONNECTED, "the other side has disconnected, or this one", "对端或本端断开了连接"),
    ROW(RDMA_CM_EVENT_DEVICE_REMOVAL, "the device is going away", "设备即将移除"),
    ROW(RDMA_CM_EVENT_MULTICAST_JOIN, "joined a multicast group", "已加入多播组"),
    ROW(RDMA_CM_EVENT_MULTICAST_ERROR, "and could not, or it has gone", "加入失败，或者组已不在"),
    ROW(RDMA_CM_EVENT_ADDR_CHANGE, "the network device of this address has changed", "这个地址所在的网络设备变了"),
    ROW(RDMA_CM_EVENT_TIMEWAIT_EXIT, "the QP number may be used again", "QP 号可以再用了"),
};

constexpr std::array port_spaces{
    ROW(RDMA_PS_IPOIB, "datagrams to IPoIB groups", "发往 IPoIB 组的数据报"),
    ROW(RDMA_PS_TCP, "RC", "RC"),
    ROW(RDMA_PS_UDP, "UD", "UD"),
    ROW(RDMA_PS_IB, "any type; service ids of InfiniBand", "任意类型；InfiniBand 的 service ID"),
};

}  // namespace

int main(int argc, char** argv) {
  in_chinese = argc == 2 && std::string_view{argv[1]} == "--zh";
  mtus();
  timers();
  retries();
  bits(accesses);
  table(states);
  table(types);
  bits(masks);
  table(opcodes);
  bits(send_flags);
  texts<ibv_wc_status>(statuses, ibv_wc_status_str);
  table(wc_opcodes);
  bits(wc_flags);
  texts<ibv_port_state>(port_states, ibv_port_state_str);
  table(link_layers);
  table(transports);
  table(gid_types);
  numbers(widths);
  numbers(speeds);
  numbers(phys_states);
  texts<ibv_event_type>(events, ibv_event_type_str);
  table(cm_events);
  bits(port_spaces);
}
